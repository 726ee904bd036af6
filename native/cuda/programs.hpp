// The work of a block of threads: the squared lengths of rows, a tile of a Gram matrix, a tile of
// many Gram matrices that differ in depth, a strip of a product with vectors.
#pragma once

#include "cuda/product.hpp"
#include "kernels/pointwise.hpp"
#include "kernels/row_length.hpp"

namespace fctree::cuda::FCTREE_ISA {

// The rows of one side of all problems, ready for the tiles (see tiling.hpp). What belongs to a row
// is padded to whole tiles.
template <class T>
struct PanelRows {
  T* panels;   // (n_problems, n_tiles, depth, tile)
  T* self;     // squared length as multiply_panels computes it
  T* gap;      // 1 - squared length, exactly
  T* factor;   // the kernel value's factor
  std::int64_t n_rows, n_tiles, depth;

  FCTREE_DEVICE std::int64_t first(std::int64_t problem, std::int64_t tile) const {
    return (problem * n_tiles + tile) * TileShape<T>::tile;
  }
  FCTREE_DEVICE const T* panel(std::int64_t problem, std::int64_t tile) const {
    return panels + first(problem, tile) * depth;
  }
  FCTREE_DEVICE int rows_of(std::int64_t tile) const {
    const std::int64_t rest = n_rows - tile * TileShape<T>::tile;
    return rest < TileShape<T>::tile ? static_cast<int>(rest) : TileShape<T>::tile;
  }
};

// Destination of the values: element (i, j) of problem b at out[b problem_stride + i row_stride +
// j].
template <class T>
struct MatrixTarget {
  T* out;
  std::int64_t problem_stride, row_stride;
  bool aligned;  // every row starts at a multiple of 16 bytes
};

template <class T>
inline MatrixTarget<T> make_target(T* out, std::int64_t problem_stride, std::int64_t row_stride) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(out) % 16 == 0 &&
                       problem_stride % kPack<T> == 0 && row_stride % kPack<T> == 0;
  return {out, problem_stride, row_stride, aligned};
}

template <class T>
struct GramTask {
  TileGrid grid;
  PanelRows<T> left, right;
  MatrixTarget<T> target;
  KernelSpec spec;
};

// self of one tile of rows, by the same sums as the products.
template <class T, class Team>
FCTREE_DEVICE void self_program(Team& team, const PanelRows<T>& rows, std::int64_t block) {
  const T* panel = rows.panel(0, block);
  multiply_panels(team, panel, panel, rows.depth);
  team.lanes([&](int, Registers<T>& r) {
    for_each_sum(r, [&](int row, int column, const Pack<T>& sums) {
#pragma unroll
      for (int e = 0; e < kPack<T>; ++e)
        if (row == column + e) rows.self[rows.first(0, block) + row] = sums.v[e];
    });
  });
}

// The pairs of a thread: neighbouring columns, the same in all rows it visits.
template <class T>
struct ColumnPairs {
  Pack<T> self, gap, factor;

  FCTREE_DEVICE ColumnPairs(const PanelRows<T>& right, std::int64_t first)
      : self(load(right.self + first)), gap(load(right.gap + first)),
        factor(load(right.factor + first)) {}
  static FCTREE_DEVICE Pack<T> load(const T* from) {
    return *reinterpret_cast<const Pack<T>*>(from);
  }
  FCTREE_DEVICE Pair<Pack<T>> with(const PanelRows<T>& left, std::int64_t row,
                                   const Pack<T>& product) const {
    using N = Number<Pack<T>>;
    return {product, N::set(left.self[row]), self, N::set(left.gap[row]), gap,
            factor * left.factor[row]};
  }
};

// A tile of one problem with the numbers of its actual rows and columns.
struct TileAt {
  TilePosition at;
  int n_rows, n_columns;
  bool symmetric;

  FCTREE_DEVICE bool diagonal() const { return symmetric && at.row == at.column; }
  FCTREE_DEVICE bool mirrored() const { return symmetric && at.row != at.column; }
};

template <class T>
FCTREE_DEVICE inline TileAt tile_at(const GramTask<T>& task, std::int64_t block) {
  const TilePosition at = tile_position(task.grid, block);
  return {at, task.left.rows_of(at.row), task.right.rows_of(at.column), task.grid.symmetric};
}

// visit(row, column) for a thread's packs of a tile, row by row: a warp's packs are adjacent, and
// the column is fixed.
template <class T, class Visit>
FCTREE_DEVICE inline void for_each_pack(int thread, int n_rows, int n_columns, const Visit& visit) {
  static_assert(TileShape<T>::threads % kPacksPerRow<T> == 0, "a thread keeps its columns");
  const int column = thread % kPacksPerRow<T> * kPack<T>;
  if (column >= n_columns) return;
  for (int row = thread / kPacksPerRow<T>; row < n_rows; row += TileShape<T>::threads / kPacksPerRow<T>)
    visit(row, column);
}

// The same for the transposed tile: visit(row, column) stands for the pack of rows from `row` on in
// one column. Eight neighbouring packs and four columns a warp: reads of tile_index's places are
// without conflicts, and writes are of 128 bytes.
template <class T, class Visit>
FCTREE_DEVICE inline void for_each_transposed(int thread, int n_rows, int n_columns,
                                              const Visit& visit) {
  constexpr int kWarps = TileShape<T>::threads / 32;
  constexpr int kAcross = TileShape<T>::tile / (8 * kPack<T>);  // warps' patches in a column
  const int warp = thread / 32, lane = thread % 32;
  for (int patch = warp; patch < kAcross * (TileShape<T>::tile / 4); patch += kWarps) {
    const int row = (patch % kAcross * 8 + lane % 8) * kPack<T>;
    const int column = patch / kAcross * 4 + lane / 8;
    if (row < n_rows && column < n_columns) visit(row, column);
  }
}

// A pack to a row of the matrix, as far as the row goes.
template <class T, class Team>
FCTREE_DEVICE inline void store_row_pack(Team& team, T* to, const Pack<T>& values, int n_left,
                                         bool aligned) {
  if (aligned && n_left >= kPack<T>) {
    team.store_pack(to, values);
    return;
  }
#pragma unroll
  for (int e = 0; e < kPack<T>; ++e)
    if (e < n_left) team.store(to + e, values.v[e]);
}

// The transposed pack from where tile_index put it.
template <class T, class Team>
FCTREE_DEVICE inline Pack<T> load_transposed(Team& team, int first, int row, int column) {
  return Pack<T>::of(
      [&](int e) { return team.shared.load(first + tile_index<T>(row + e, column)); });
}

// Writes shared memory element by element, adjacent within a warp: for unaligned rows, and for
// tiles on the diagonal, whose upper half is written twice.
template <class T, class Team>
FCTREE_DEVICE inline void write_elements(Team& team, int thread, const TileAt& tile, T* out,
                                         std::int64_t stride) {
  constexpr int kTileSide = TileShape<T>::tile;
  for (int e = thread; e < kTileSide * tile.n_rows; e += TileShape<T>::threads) {
    const int row = e / kTileSide, column = e % kTileSide;
    if (column >= tile.n_columns) continue;
    const bool below = tile.diagonal() && column < row;
    const int from = below ? tile_index<T>(column, row) : tile_index<T>(row, column);
    team.store(out + row * stride + column, team.shared.load(from));
  }
}

// One tile of a Gram matrix, and its mirror image if the matrix is symmetric.
template <class T, class Team>
FCTREE_DEVICE void gram_program(Team& team, const GramTask<T>& task, std::int64_t block) {
  const TileAt tile = tile_at(task, block);
  if (!tile.at.computed) return;
  const TilePosition& at = tile.at;
  multiply_panels(team, task.left.panel(at.problem, at.row),
                  task.right.panel(at.problem, at.column), task.left.depth);
  store_products<T>(team);

  const std::int64_t stride = task.target.row_stride;
  T* const matrix = task.target.out + at.problem * task.target.problem_stride;
  const std::int64_t i = at.row * TileShape<T>::tile, j = at.column * TileShape<T>::tile;
  T* const out = matrix + i * stride + j;
  const bool by_element = tile.diagonal() || !task.target.aligned;
  const bool kept = by_element || tile.mirrored();
  const std::int64_t first_row = task.left.first(at.problem, at.row);
  const std::int64_t first_column = task.right.first(at.problem, at.column);

  team.lanes([&](int thread, Registers<T>&) {
    const ColumnPairs<T> pairs(task.right, first_column + thread % kPacksPerRow<T> * kPack<T>);
    with_kernel(task.spec, [&](const auto& kernel) {
      for_each_pack<T>(thread, tile.n_rows, tile.n_columns, [&](int row, int column) {
        const int place = tile_index<T>(row, column);
        const Pack<T> values =
            kernel(pairs.with(task.left, first_row + row, team.shared.load_pack(place)));
        if (kept) team.shared.store_pack(place, values);
        if (!by_element)
          store_row_pack(team, out + row * stride + column, values, tile.n_columns - column, true);
      });
    });
  });
  if (!kept) return;
  team.barrier();
  team.lanes([&](int thread, Registers<T>&) {
    if (by_element) write_elements(team, thread, tile, out, stride);
    if (!tile.mirrored()) return;
    T* const mirror = matrix + j * stride + i;
    for_each_transposed<T>(thread, tile.n_rows, tile.n_columns, [&](int row, int column) {
      store_row_pack(team, mirror + column * stride + row, load_transposed<T>(team, 0, row, column),
                     tile.n_rows - row, task.target.aligned);
    });
  });
}

// The same for many specifications of tree kernels: values of specification s go to
// out + s * spec_stride. The angles t and k stay in shared memory, two tiles, and each value is
// computed where it is written.
template <class T>
struct PathTask {
  GramTask<T> gram;
  const KernelSpec* specs;
  std::int64_t n_specs, spec_stride;
};

template <class T, class Team>
FCTREE_DEVICE inline void store_angles(Team& team, const GramTask<T>& task, const TileAt& tile) {
  const TilePosition& at = tile.at;
  const std::int64_t first_row = task.left.first(at.problem, at.row);
  const std::int64_t first_column = task.right.first(at.problem, at.column);
  team.lanes([&](int thread, Registers<T>&) {
    const ColumnPairs<T> pairs(task.right, first_column + thread % kPacksPerRow<T> * kPack<T>);
    for_each_pack<T>(thread, TileShape<T>::tile, TileShape<T>::tile, [&](int row, int column) {
      const int place = tile_index<T>(row, column);
      const Angle<Pack<T>> angle(
          pairs.with(task.left, first_row + row, team.shared.load_pack(place)));
      team.shared.store_pack(place, angle.t);
      team.shared.store_pack(kTileSize<T> + place, angle.k);
    });
  });
  team.barrier();
}

template <class T, class Team>
FCTREE_DEVICE void path_program(Team& team, const PathTask<T>& path, std::int64_t block) {
  const GramTask<T>& task = path.gram;
  const TileAt tile = tile_at(task, block);
  if (!tile.at.computed) return;
  const TilePosition& at = tile.at;
  multiply_panels(team, task.left.panel(at.problem, at.row),
                  task.right.panel(at.problem, at.column), task.left.depth);
  store_products<T>(team);
  store_angles(team, task, tile);

  const std::int64_t stride = task.target.row_stride;
  const std::int64_t i = at.row * TileShape<T>::tile, j = at.column * TileShape<T>::tile;
  T* const matrices = task.target.out + at.problem * task.target.problem_stride;
  const bool aligned = task.target.aligned;
  team.lanes([&](int thread, Registers<T>&) {
    for (std::int64_t s = 0; s < path.n_specs; ++s) {
      T* const out = matrices + s * path.spec_stride + i * stride + j;
      T* const mirror = matrices + s * path.spec_stride + j * stride + i;
      with_sum(path.specs[s], [&](const auto& sum) {
        for_each_pack<T>(thread, tile.n_rows, tile.n_columns, [&](int row, int column) {
          const int place = tile_index<T>(row, column);
          const Pack<T> values = sum.value(team.shared.load_pack(place),
                                           team.shared.load_pack(kTileSize<T> + place));
          store_row_pack(team, out + row * stride + column, values, tile.n_columns - column, aligned);
        });
        if (!tile.mirrored()) return;
        for_each_transposed<T>(thread, tile.n_rows, tile.n_columns, [&](int row, int column) {
          const Pack<T> values = sum.value(load_transposed<T>(team, 0, row, column),
                                           load_transposed<T>(team, kTileSize<T>, row, column));
          store_row_pack(team, mirror + column * stride + row, values, tile.n_rows - row, aligned);
        });
      });
    }
  });
}

}  // namespace fctree::cuda::FCTREE_ISA
