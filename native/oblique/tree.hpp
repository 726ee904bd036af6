// An oblique tree as flat arrays, one entry per node, breadth-first, with the names of
// fctree.ObliqueTree.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace fctree::oblique {

// Where a fit puts, by sample, the leaf models' leave-one-out predictions (left_out_scores.hpp) and
// the numbers of the leaves; null where not wanted. Samples of weight 0 are left as they are, and
// so are all but a random one in `one_in`. A sample is left out whole, or one unit of a weight above 1.
struct LeftOut {
  double* scores = nullptr;  // (n, K)
  index_t* leaf = nullptr;   // (n,)
  index_t one_in = 1;
  bool whole = false;
};

struct ObliqueTreeArrays {
  index_t n_features = 0;
  index_t n_outputs = 0;
  double alpha = 0.0;  // the penalty used

  std::vector<index_t> children_left;
  std::vector<index_t> children_right;
  std::vector<index_t> split_kind;    // a SplitKind (params.hpp), -1 at leaves
  std::vector<index_t> split_output;  // of a ridge direction, else -1
  std::vector<double> threshold;
  std::vector<double> coef;       // (n_nodes, n_features)
  std::vector<double> intercept;  // (n_nodes,)
  std::vector<double> value;      // (n_nodes, n_outputs): weighted means
  std::vector<double> impurity;
  std::vector<index_t> n_node_samples;
  std::vector<double> weighted_n_node_samples;

  std::vector<index_t> leaf_index;
  std::vector<double> leaf_coef;       // (n_leaves, n_outputs, n_features), or empty
  std::vector<double> leaf_intercept;  // (n_leaves, n_outputs)

  std::vector<double> feature_gain;  // (n_features,)
  std::vector<double> feature_scale;  // (n_features,) of a standardised tree, or empty

  index_t n_nodes() const { return static_cast<index_t>(children_left.size()); }
  index_t n_leaves() const {
    return static_cast<index_t>(leaf_intercept.size()) / n_outputs;
  }
};

}  // namespace fctree::oblique
