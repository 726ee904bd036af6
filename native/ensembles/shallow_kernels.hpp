// Three levels of a tree for blocks of rows, a row in each lane of a vector: their splits, or leaves,
// are at most eight linear models, so that a vector or two hold one coefficient of each, from which
// every lane picks that of its row's model. One table of functions per instruction set (core/cpu.hpp).
#pragma once

#include <cstdint>

namespace fctree::ensembles {

constexpr std::int64_t kShallowRows = 128;   // rows evaluated together, at most
constexpr std::int64_t kShallowLevels = 3;
constexpr std::int64_t kShallowModels = 8;

// Linear models side by side, in those features that any of them uses. A product is summed in the
// order of dot() (core/simd.hpp), and so to the same bytes: the features of its lane 0 in even vectors
// first, then those of lane 0 in odd ones, those of lane 1 in even ones, ..
struct SideBySide {
  const std::int32_t* begin;     // (2 lanes + 1,): where the features of each such group begin
  const std::int32_t* features;
  const double* coef;            // (features, kShallowModels)
};

// Nodes in the order of a heap: 0, its children 1 and 2, theirs 3 to 6.
struct ShallowSplits {
  SideBySide models;
  const double* threshold;  // (kShallowModels,)
  std::int64_t depth;
};

struct ShallowLeaves {
  SideBySide models;
  const double* intercept;  // (kShallowModels,), as the next two
  const double* lower;
  const double* upper;
};

struct ShallowRows {
  const double* x;
  std::int64_t n;
  const std::int64_t* leaf;
};

struct ShallowKernels {
  std::int64_t lanes;  // those of dot()
  // Rows come in blocks of x (n_features, kShallowRows); those beyond the first n may be read and changed as well.
  // leaf (kShallowRows,): nodes below the last level, from left to right. O(depth features) per row.
  void (*route)(const ShallowSplits& splits, const double* x, std::int64_t n, std::int64_t* leaf);
  // sums[i] += the score of row i in leaf[i], clipped to the leaf's bounds. O(features) per row.
  void (*add_leaves)(const ShallowLeaves& leaves, const ShallowRows& rows, double* sums);
};

const ShallowKernels& shallow_kernels();

}  // namespace fctree::ensembles
