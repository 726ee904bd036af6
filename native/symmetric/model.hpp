// A boosted model as arrays: symmetric trees, their leaves' values, and a starting score.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace fctree::symmetric {

// Trees of up to max_depth levels. Bit max_depth - 1 - level of a leaf's index is set where
// x[feature] > threshold at that level, and for a missing value where missing_right; unused levels
// have feature -1.
struct SymmetricTreesArrays {
  index_t max_depth = 0;
  index_t n_outputs = 0;
  std::vector<std::int32_t> split_feature;   // (n_trees, max_depth)
  std::vector<double> split_threshold;       // (n_trees, max_depth)
  std::vector<std::uint8_t> missing_right;   // (n_trees, max_depth)
  std::vector<double> split_gain;            // (n_trees, max_depth)
  std::vector<double> leaf_values;           // (n_trees, 2^max_depth, n_outputs)

  index_t n_leaves() const { return index_t{1} << max_depth; }
  index_t n_trees() const {
    return static_cast<index_t>(split_feature.size()) / (max_depth > 0 ? max_depth : 1);
  }
  void truncate(index_t n) {
    split_feature.resize(n * max_depth);
    split_threshold.resize(n * max_depth);
    missing_right.resize(n * max_depth);
    split_gain.resize(n * max_depth);
    leaf_values.resize(n * n_leaves() * n_outputs);
  }
};

// The same, borrowed.
struct SymmetricTreesView {
  const std::int32_t* split_feature;
  const double* split_threshold;
  const std::uint8_t* missing_right;
  const double* leaf_values;
  index_t n_trees;
  index_t max_depth;
  index_t n_outputs;

  index_t n_leaves() const { return index_t{1} << max_depth; }
};

}  // namespace fctree::symmetric
