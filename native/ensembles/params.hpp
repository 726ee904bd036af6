// The parameters of ensembles of oblique trees, named as in the estimators
// (fctree/ensembles), which hold their defaults and ranges.
#pragma once

#include "core/types.hpp"

namespace fctree::ensembles {

struct ObliqueBoostingParams {
  double learning_rate;  // 0: chosen (learning_rate.hpp)
  index_t max_iter;
  double subsample;
  double colsample;
  index_t halved_from;  // so many features: if colsample is 1, every second round sees half of them; 0: never
  bool linear_competes;  // whether trees of one leaf, linear models, are a kind of their own
  double l2_leaf_reg;
  double extrapolation;  // beyond a leaf's training range, as a multiple of it; infinite: no bound
  bool early_stopping;
  index_t n_iter_no_change;
  double tol;
  bool rounds_features;  // for draws (row_sample.hpp)
  std::uint64_t seed;
};

struct ObliqueForestParams {
  double max_samples;  // mean share of the samples drawn for a tree, in (0, 1]
  bool bootstrap;      // whether a sample may be drawn more than once
  double extrapolation;
  double target_unit;  // the deviation of a single target, for draws; 0: they come in their units
  bool rounds_features;  // for draws (row_sample.hpp)
  std::uint64_t seed;
};

}  // namespace fctree::ensembles
