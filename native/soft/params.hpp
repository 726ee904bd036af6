// The parameters of soft trees, named as in the estimators.
#pragma once

#include "soft/ensemble.hpp"

namespace fctree::soft {

enum class Optimizer { adam = 0, gradient_descent };

struct SoftTreeParams {
  index_t n_trees;
  double gamma;
  Routing routing;
  double scale;
  bool batch_norm;
  bool fit_intercept;
  Optimizer optimizer;
  double learning_rate;
  index_t batch_size;
  index_t max_epochs;
  double l2_regularization;
  double l2_leaf_reg;
  index_t n_iter_no_change;
  double tol;
  std::uint64_t seed;
};

}  // namespace fctree::soft
