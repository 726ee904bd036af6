// The inner loops of prediction, behind one table of functions per instruction set.
#pragma once

#include <cstdint>

namespace fctree::symmetric {

constexpr std::int64_t kPredictedRows = 256;  // rows evaluated together
constexpr std::int64_t kPredictedTrees = 8;   // and trees, at most

// One tree for a block of kPredictedRows rows: for each level the rows' codes of one feature, and
// the code above which they go right.
struct BlockTree {
  const std::uint8_t* const* codes;  // (depth,)
  const std::uint8_t* borders;       // (depth,)
  std::int64_t depth;
  std::int64_t shift;    // leaf index = decisions << shift
  const double* values;  // (n_leaves, n_outputs)
  std::int64_t n_outputs;
};

struct PredictKernels {
  // out[i * n_outputs + k] += values of row i's leaf in each of n_trees <= kPredictedTrees trees,
  // in order, for all kPredictedRows rows. O(depth) bytes and one look-up per row and tree.
  void (*add_trees)(const BlockTree* trees, std::int64_t n_trees, double* out);
};

const PredictKernels& predict_kernels();

}  // namespace fctree::symmetric
