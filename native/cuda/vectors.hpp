// Products of Gram matrices with vectors, without the matrices. Columns are divided into parts by
// the data alone; each block multiplies its tiles of one part by the vectors in shared memory and
// keeps separate sums, which are added in order at the end: the result does not depend on the
// order of the blocks.
#pragma once

#include "cuda/programs.hpp"

namespace fctree::cuda::FCTREE_ISA {

template <class T>
struct VectorTask {
  PanelRows<T> left, right;
  KernelSpec spec;
  const T* vectors;  // (n_problems, n_y, n_vectors)
  double* sums;      // (n_problems, n_parts, kSplits, n_x, n_vectors)
  std::int64_t n_problems, n_vectors, n_parts;

  std::int64_t n_blocks() const { return n_problems * n_parts * left.n_tiles; }
};

// Warps that share a row, each with its columns of the tile.
template <class T>
constexpr int kSplits = TileShape<T>::threads / TileShape<T>::tile;
constexpr int kVectorsAtOnce = 4;

// The row and the columns [begin, end) that a thread multiplies: packs of a warp's rows lie in
// different banks.
template <class T>
struct RowShare {
  int row, split, begin, end;

  FCTREE_DEVICE explicit RowShare(int thread) {
    constexpr int kRowWarps = TileShape<T>::tile / 32, kWidth = TileShape<T>::tile / kSplits<T>;
    const int warp = thread / 32, lane = thread % 32;
    row = warp % kRowWarps * 32 + lane % 8 * kPack<T> + lane / 8 % kPack<T> +
          lane / (8 * kPack<T>) * (8 * kPack<T>);
    split = warp / kRowWarps;
    begin = split * kWidth;
    end = begin + kWidth;
  }
};

// The vectors that multiply a tile: (n_columns, n_vectors).
template <class T>
struct Vectors {
  const T* values;
  std::int64_t n_vectors;
};

// sums (kVectorsAtOnce) = a thread's columns of one tile times vectors `first` and following.
template <class T, class Team>
FCTREE_DEVICE inline void multiply_columns(Team& team, const RowShare<T>& share, int n_columns,
                                           const Vectors<T>& right, std::int64_t first, T* sums) {
  const T* vectors = right.values;
  const std::int64_t n_vectors = right.n_vectors;
#pragma unroll
  for (int q = 0; q < kVectorsAtOnce; ++q) sums[q] = T(0);
  for (int column = share.begin; column < share.end && column < n_columns; column += kPack<T>) {
    const Pack<T> values = team.shared.load_pack(tile_index<T>(share.row, column));
#pragma unroll
    for (int e = 0; e < kPack<T>; ++e) {
      if (column + e >= n_columns) continue;
      const T* vector = vectors + (column + e) * n_vectors + first;
#pragma unroll
      for (int q = 0; q < kVectorsAtOnce; ++q)
        if (first + q < n_vectors) sums[q] += values.v[e] * vector[q];
    }
  }
}

template <class T, class Team>
FCTREE_DEVICE void vector_program(Team& team, const VectorTask<T>& task, std::int64_t block) {
  const std::int64_t row_tile = block % task.left.n_tiles, rest = block / task.left.n_tiles;
  const std::int64_t part = rest % task.n_parts, problem = rest / task.n_parts;
  const std::int64_t begin = task.right.n_tiles * part / task.n_parts;
  const std::int64_t end = task.right.n_tiles * (part + 1) / task.n_parts;
  const int n_rows = task.left.rows_of(row_tile);
  const std::int64_t first_row = task.left.first(problem, row_tile);

  for (std::int64_t column_tile = begin; column_tile < end; ++column_tile) {
    multiply_panels(team, task.left.panel(problem, row_tile),
                    task.right.panel(problem, column_tile), task.left.depth);
    store_products<T>(team);
    const int n_columns = task.right.rows_of(column_tile);
    const std::int64_t first_column = task.right.first(problem, column_tile);
    team.lanes([&](int thread, Registers<T>&) {
      const ColumnPairs<T> pairs(task.right, first_column + thread % kPacksPerRow<T> * kPack<T>);
      with_kernel(task.spec, [&](const auto& kernel) {
        for_each_pack<T>(thread, n_rows, n_columns, [&](int row, int column) {
          const int place = tile_index<T>(row, column);
          team.shared.store_pack(place, kernel(pairs.with(task.left, first_row + row,
                                                          team.shared.load_pack(place))));
        });
      });
    });
    team.barrier();
    const std::int64_t j = column_tile * TileShape<T>::tile;
    const T* vectors = task.vectors + (problem * task.right.n_rows + j) * task.n_vectors;
    team.lanes([&](int thread, Registers<T>&) {
      const RowShare<T> share(thread);
      if (share.row >= n_rows) return;
      const std::int64_t i = row_tile * TileShape<T>::tile + share.row;
      const std::int64_t slice = (problem * task.n_parts + part) * kSplits<T> + share.split;
      double* sums = task.sums + (slice * task.left.n_rows + i) * task.n_vectors;
      for (std::int64_t q0 = 0; q0 < task.n_vectors; q0 += kVectorsAtOnce) {
        T tile_sums[kVectorsAtOnce];
        multiply_columns(team, share, n_columns, Vectors<T>{vectors, task.n_vectors}, q0, tile_sums);
#pragma unroll
        for (int q = 0; q < kVectorsAtOnce; ++q)
          if (q0 + q < task.n_vectors)
            sums[q0 + q] = column_tile == begin ? tile_sums[q] : sums[q0 + q] + tile_sums[q];
      }
    });
    team.barrier();
  }
}

// Element `index` of out (n_problems, n_x, n_vectors): the parts' sums, in order.
template <class T>
FCTREE_DEVICE inline T add_parts(const VectorTask<T>& task, std::int64_t index) {
  const std::int64_t size = task.left.n_rows * task.n_vectors;
  const std::int64_t problem = index / size, slices = task.n_parts * kSplits<T>;
  const double* sums = task.sums + problem * slices * size + index % size;
  double total = 0.0;
  for (std::int64_t s = 0; s < slices; ++s) total += sums[s * size];
  return static_cast<T>(total);
}

}  // namespace fctree::cuda::FCTREE_ISA
