// The parameters of one oblique tree, named as in the estimators (fctree/oblique/parameters.py),
// which hold their defaults and ranges.
#pragma once

#include "core/types.hpp"

namespace fctree::oblique {

// How the direction of a split was found: a place in the list of split_search/directions.cpp.
enum class SplitKind : index_t { ridge = 0, curvature = 1, axis = 2 };

// The features that a node may split on, drawn for each node, or once for all of the tree.
struct NodeFeatures {
  index_t max_features;
  std::uint64_t seed;
  index_t tree;
  bool once;
};

struct ObliqueParams {
  bool standardize;  // features to mean 0 and variance 1; few of many of them (relevant_features.hpp)
  double alpha;
  bool choose_alpha;  // alpha == "loo": alpha is chosen at the root
  index_t max_depth;
  index_t min_samples_split;
  index_t min_samples_leaf;
  index_t max_leaves;  // of splits of a level the best ones are made
  double min_impurity_decrease;
  bool feature_concatenation;
  bool ridge_leaves;  // leaf_model != "constant"
  bool fit_intercept;
  // Impurity is the sum over outputs of their variances times this: 1 / n_outputs for
  // regression, 1 for class indicators (Gini), 2 for the one indicator of two classes.
  double impurity_scale;
  // The deviation of a single target, by half of which the scores that children get as features are divided; 0 to take them as they
  // are, and 1 until an ensemble knows it.
  double target_unit;
  index_t direction_kinds;  // bit k: whether directions of SplitKind k are candidates
  index_t n_curvature;
  index_t max_coef;  // nonzero coefficients of a split direction, at most
  index_t n_screened;  // axes tried by the ridge criterion, at most
  bool ridge_criterion;  // with ridge leaves that have an intercept
  index_t max_thresholds;
  bool refines_cuts;  // by more thresholds beside the best ones, of the ridge criterion
  double parent_weight;
  double split_margin;
  NodeFeatures node_features;

  // Whether splits have to pass the leave-one-out test: of the models that chose them.
  bool judges_splits() const {
    return ridge_criterion || (!ridge_leaves && split_margin > 0.0);
  }
};

inline bool searches(const ObliqueParams& params, SplitKind kind) {
  return (params.direction_kinds >> static_cast<index_t>(kind) & 1) != 0;
}
// Whether there are candidates beside axes, which need the node's model.
inline bool searches_oblique(const ObliqueParams& params) {
  return (params.direction_kinds & ~(index_t{1} << static_cast<index_t>(SplitKind::axis))) != 0;
}

// Whether nodes need ridge models: constant leaves and splits along axes need none.
inline bool fits_models(const ObliqueParams& params) {
  return params.ridge_leaves || searches_oblique(params);
}

// Whether a tree takes no more of the features than sums, and where samples lie along axes.
inline bool takes_only_axes(const ObliqueParams& params) {
  return !fits_models(params) && !params.judges_splits();
}

// Whether nodes scan all samples in the order of each feature.
inline bool sorts_axes(const ObliqueParams& params) {
  return searches(params, SplitKind::axis) && !params.ridge_criterion;
}

}  // namespace fctree::oblique
