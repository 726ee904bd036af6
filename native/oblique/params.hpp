// The parameters of one oblique tree, named as in the estimators (fctree/oblique/base.py),
// which hold their defaults and ranges.
#pragma once

#include "core/types.hpp"

namespace fctree::oblique {

// The features that a node of a forest's tree may split on, drawn for each node.
struct NodeFeatures {
  index_t max_features;
  std::uint64_t seed;
  index_t tree;
};

struct ObliqueParams {
  double alpha;
  bool choose_alpha;  // alpha == "loo": alpha is chosen at the root
  index_t max_depth;
  index_t min_samples_split;
  index_t min_samples_leaf;
  double min_impurity_decrease;
  bool feature_concatenation;
  bool ridge_leaves;  // leaf_model == "ridge"
  bool fit_intercept;
  // Impurity is the sum over outputs of their variances times this: 1 / n_outputs for
  // regression, 1 for class indicators (Gini), 2 for the one indicator of two classes.
  double impurity_scale;
  // Which candidate directions a node has.
  bool ridge_directions;
  bool curvature_directions;
  bool axis_directions;
  index_t n_curvature;
  index_t max_coef;  // nonzero coefficients of a split direction, at most
  index_t n_screened;  // axes tried by the ridge criterion, at most
  bool ridge_criterion;  // split_criterion == "ridge"
  index_t max_thresholds;
  double parent_weight;
  double split_margin;
  NodeFeatures node_features;
};

// Whether nodes scan all samples in the order of each feature.
inline bool sorts_axes(const ObliqueParams& params) {
  return params.axis_directions && !params.ridge_criterion;
}

}  // namespace fctree::oblique
