// The parameters of one oblique tree, named as in the estimators (fctree/oblique.py),
// which hold their defaults and ranges.
#pragma once

#include "core/types.hpp"

namespace fctree {

struct ObliqueParams {
  double alpha;
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
};

}  // namespace fctree
