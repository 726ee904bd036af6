// The parameters of symmetric boosting, named as in the estimators.
#pragma once

#include "core/types.hpp"

namespace fctree::symmetric {

enum class ScoreNoise { normal = 0, gumbel = 1 };
enum class ScoreFunction { l2 = 0, cosine = 1 };

struct BoostingParams {
  double learning_rate;
  index_t max_iter;
  index_t max_depth;
  double l2_leaf_reg;
  index_t min_samples_leaf;
  double random_strength;
  ScoreNoise score_noise;
  ScoreFunction score_function;
  double subsample;
  double colsample;
  double model_shrink_rate;  // not a parameter of the estimators: of their posterior samples
  bool early_stopping;
  index_t n_iter_no_change;
  double tol;
  std::uint64_t seed;
};

}  // namespace fctree::symmetric
