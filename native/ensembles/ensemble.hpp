// Many oblique trees as flat arrays, one tree after the other: what boosting and forests
// return and fctree.ObliqueTrees holds under the same names.
//
// Node numbers are those within the tree; nodes and leaves of tree t are entries
// node_offsets[t] .. node_offsets[t + 1] and leaf_offsets[t] .. leaf_offsets[t + 1].
// Every leaf has a linear model (of zeros in a tree with constant leaves) and bounds to which its
// scores are clipped.
#pragma once

#include <vector>

#include "core/types.hpp"
#include "oblique/tree.hpp"
#include "ridge/feature_map.hpp"

namespace fctree::ensembles {

using namespace oblique;
using namespace ridge;

struct ObliqueTreesArrays {
  index_t n_features = 0;
  index_t n_outputs = 0;

  std::vector<index_t> node_offsets{0};  // (n_trees + 1)
  std::vector<index_t> leaf_offsets{0};  // (n_trees + 1)
  std::vector<index_t> children_left;
  std::vector<index_t> children_right;
  std::vector<index_t> split_kind;
  std::vector<double> threshold;
  std::vector<double> coef;       // (n_nodes, n_features)
  std::vector<double> value;      // (n_nodes, n_outputs)
  std::vector<double> impurity;
  std::vector<index_t> n_node_samples;
  std::vector<double> weighted_n_node_samples;
  std::vector<index_t> leaf_index;
  std::vector<double> leaf_coef;       // (n_leaves, n_outputs, n_features)
  std::vector<double> leaf_intercept;  // (n_leaves, n_outputs)
  std::vector<double> leaf_lower;      // (n_leaves, n_outputs)
  std::vector<double> leaf_upper;
  std::vector<double> feature_gain;    // (n_trees, n_features)

  index_t n_trees() const { return static_cast<index_t>(node_offsets.size()) - 1; }
  // Keeps the first n trees.
  void truncate(index_t n);
};

// The arrays that prediction reads.
struct ObliqueTreesView {
  const index_t* node_offsets;
  const index_t* leaf_offsets;
  const index_t* children_left;
  const index_t* children_right;
  const double* threshold;
  const double* coef;
  const index_t* leaf_index;
  const double* leaf_coef;
  const double* leaf_intercept;
  const double* leaf_lower;
  const double* leaf_upper;
  index_t n_features;
  index_t n_outputs;
};

ObliqueTreesView view_of(const ObliqueTreesArrays& trees);

// Bounds of the leaf models' predictions.
struct LeafBounds {
  std::vector<double> lower;  // (n_leaves, n_outputs)
  std::vector<double> upper;
};

// Appends a tree grown on mapped features, with scores and bounds multiplied by `factor`.
void append_tree(const ObliqueTreeArrays& tree, const LeafBounds& bounds, const FeatureMap& map,
                 double factor, ObliqueTreesArrays& trees);
// Such a tree alone, of so many features.
ObliqueTreesArrays tree_alone(const ObliqueTreeArrays& tree, const LeafBounds& bounds, const FeatureMap& map, double factor,
                              index_t n_features);
// Adds numbers, (n_outputs,), to the scores of the last tree.
void shift_last_tree(const std::vector<double>& shifts, ObliqueTreesArrays& trees);

}  // namespace fctree::ensembles
