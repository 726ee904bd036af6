// A block's share of a product: panels through shared memory, sums in registers, the finished
// tile back into shared memory.
//
// All block programs are sequences of steps `team.lanes(step)`, in which each thread does step(thread,
// registers), and `team.barrier()`. On a device a team is a block of threads; the emulation
// (emulation.hpp) runs the same steps thread by thread and checks memory accesses.
#pragma once

#include "cuda/tiling.hpp"

namespace fctree::cuda::FCTREE_ISA {

// A thread's copies of each stage: some features of a pack of rows, on both sides.
template <class T>
struct PanelReader {
  const T* from[2];
  int first, to;  // its first feature of a stage; where that goes in the first stage

  FCTREE_DEVICE void start(int thread, const T* left, const T* right) {
    const int row = thread % kPacksPerRow<T> * kPack<T>;
    first = thread / kPacksPerRow<T>;
    to = first * TileShape<T>::stride + row;
    from[0] = left + first * TileShape<T>::tile + row;
    from[1] = right + first * TileShape<T>::tile + row;
  }
};

template <class T>
struct Registers;

// Thread (of 8 warps, 4 x 2): rows row + {0..3, 16..19}, columns column + {0..3, 32..35}.
template <>
struct Registers<float> {
  PanelReader<float> reader;
  float sums[8][8];
  int row, column;

  FCTREE_DEVICE void start(int thread) {
    const int warp = thread / 32, lane = thread % 32;
    row = warp / 2 * 32 + lane / 8 * 4;
    column = warp % 2 * 64 + lane % 8 * 4;
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j) sums[i][j] = 0.0f;
  }
};

// Tensor cores multiply 16 rows by 8 columns over 4 features. Of a warp's 48 x 32 sums, a
// thread holds in sums[m][n]: row 16 m + row + {0, 8} (elements {0, 1} and {2, 3}), columns
// 8 n + column + {0, 1}. Of the factors it holds one feature of two rows and of one column.
template <>
struct Registers<double> {
  PanelReader<double> reader;
  double sums[3][4][4];
  double left[3][2], right[4];
  int row, column, first_row, first_column, feature;

  FCTREE_DEVICE void start(int thread) {
    const int warp = thread / 32, lane = thread % 32;
    first_row = warp / 3 * 48 + lane / 4;     // of the left factors
    first_column = warp % 3 * 32 + lane / 4;  // of the right factors
    feature = lane % 4;
    row = first_row;
    column = warp % 3 * 32 + lane % 4 * 2;
#pragma unroll
    for (int m = 0; m < 3; ++m)
#pragma unroll
      for (int n = 0; n < 4; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[m][n][e] = 0.0;
  }
};

template <class T>
FCTREE_DEVICE inline int stage_index(int stage, int side) {
  return (stage * 2 + side) * kStageSize<T>;
}

// Starts copying the next stage of both panels, which have `rest` features left.
template <class T, class Team>
FCTREE_DEVICE inline void fetch_stage(Team& team, int rest, int stage) {
  using S = TileShape<T>;
  constexpr int kStep = S::threads / kPacksPerRow<T>;  // features copied at once
  static_assert(S::threads % kPacksPerRow<T> == 0 && S::stage_depth % kStep == 0, "no rests");
  team.lanes([&](int, Registers<T>& r) {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
#pragma unroll
      for (int feature = 0; feature < S::stage_depth; feature += kStep)
        if (r.reader.first + feature < rest)
          team.shared.copy(stage_index<T>(stage, side) + r.reader.to + feature * S::stride,
                           r.reader.from[side] + feature * S::tile);
      r.reader.from[side] += S::stage_depth * S::tile;
    }
  });
  team.finish_group();
}

template <class Team>
FCTREE_DEVICE inline void multiply_group(Team& team, int left, int right, const float*) {
  team.lanes([&](int, Registers<float>& r) {
#pragma unroll
    for (int k = 0; k < kGroup; ++k) {
      const int stride = k * TileShape<float>::stride;
      Pack<float> a[2], b[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        a[h] = team.shared.load_pack(left + stride + r.row + 16 * h);
        b[h] = team.shared.load_pack(right + stride + r.column + 32 * h);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
          r.sums[i][j] = team.multiply_add(a[i / 4].v[i % 4], b[j / 4].v[j % 4], r.sums[i][j]);
    }
  });
}

template <class Team>
FCTREE_DEVICE inline void multiply_group(Team& team, int left, int right, const double*) {
  team.lanes([&](int, Registers<double>& r) {
    const int stride = r.feature * TileShape<double>::stride;
#pragma unroll
    for (int m = 0; m < 3; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        r.left[m][h] = team.shared.load(left + stride + r.first_row + 16 * m + 8 * h);
#pragma unroll
    for (int n = 0; n < 4; ++n)
      r.right[n] = team.shared.load(right + stride + r.first_column + 8 * n);
  });
  team.multiply_fragments();
}

// Every thread's sums = the products of the panels (depth, tile). O(tile^2 depth). Shared memory is
// free again afterwards.
template <class T, class Team>
FCTREE_DEVICE inline void multiply_panels(Team& team, const T* left, const T* right,
                                          std::int64_t depth) {
  constexpr int kDepth = TileShape<T>::stage_depth;
  int rest = static_cast<int>(depth);
  team.lanes([&](int thread, Registers<T>& r) {
    r.start(thread);
    r.reader.start(thread, left, right);
  });
  for (int s = 0; s < kStages - 1; ++s) fetch_stage<T>(team, rest - s * kDepth, s);
  int stage = 0;
  for (; rest > 0; rest -= kDepth) {
    team.wait_for_group();
    team.barrier();
    // All threads are done with the previous stage: its memory is the next to fill.
    const int next = stage == 0 ? kStages - 1 : stage - 1;
    fetch_stage<T>(team, rest - (kStages - 1) * kDepth, next);
    const int groups = (rest < kDepth ? rest : kDepth) / kGroup;
    int from_left = stage_index<T>(stage, 0), from_right = stage_index<T>(stage, 1);
    for (int g = 0; g < groups; ++g) {
      multiply_group(team, from_left, from_right, left);
      from_left += kGroup * TileShape<T>::stride;
      from_right += kGroup * TileShape<T>::stride;
    }
    stage = stage == kStages - 1 ? 0 : stage + 1;
  }
  team.barrier();
}

// visit(row, column, pack) for the packs of a thread's sums.
template <class Visit>
FCTREE_DEVICE inline void for_each_sum(const Registers<float>& r, const Visit& visit) {
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h)
      visit(r.row + i / 4 * 16 + i % 4, r.column + 32 * h,
            Pack<float>::of([&](int j) { return r.sums[i][4 * h + j]; }));
}

template <class Visit>
FCTREE_DEVICE inline void for_each_sum(const Registers<double>& r, const Visit& visit) {
#pragma unroll
  for (int m = 0; m < 3; ++m)
#pragma unroll
    for (int n = 0; n < 4; ++n)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        visit(r.row + 16 * m + 8 * h, r.column + 8 * n,
              Pack<double>::of([&](int e) { return r.sums[m][n][2 * h + e]; }));
}

// The tile of products in shared memory, visible to all threads.
template <class T, class Team>
FCTREE_DEVICE inline void store_products(Team& team) {
  team.lanes([&](int, Registers<T>& r) {
    for_each_sum(r, [&](int row, int column, const Pack<T>& sums) {
      team.shared.store_pack(tile_index<T>(row, column), sums);
    });
  });
  team.barrier();
}

}  // namespace fctree::cuda::FCTREE_ISA
