// The parameters of ensembles of oblique trees, named as in the estimators
// (fctree/ensembles), which hold their defaults and ranges.
#pragma once

#include "core/types.hpp"

namespace fctree {

struct ObliqueBoostingParams {
  double learning_rate;
  index_t max_iter;
  double subsample;
  double colsample;
  bool standardize;
  double extrapolation;  // of a leaf beyond its range of scores, in ranges; infinite: no bound
  bool early_stopping;
  index_t n_iter_no_change;
  double tol;
  std::uint64_t seed;
};

struct ObliqueForestParams {
  index_t n_estimators;
  index_t max_samples;  // rows drawn for a tree
  bool bootstrap;       // with replacement
  bool standardize;
  double extrapolation;
  std::uint64_t seed;
};

}  // namespace fctree
