// Exact Shapley values of the raw scores of symmetric trees.
#pragma once

#include "core/parallel.hpp"
#include "inspection/symmetric_game.hpp"
#include "symmetric/feature_matrix.hpp"

namespace fctree::inspection {

struct SymmetricShapleyTask {
  SymmetricTreesView trees;
  FeatureMatrix x;
  FeatureMatrix background;  // one row at least
  const index_t* player;     // (n_features) the player that each feature belongs to
  index_t n_players;
  CoalitionValue kind;
};

// Adds to out (n_samples, n_players, n_outputs). A table a tree, then a look-up per sample and tree:
// O(T 2^(depth + players) + (n + n_background) T depth).
void add_symmetric_shapley(const SymmetricShapleyTask& task, double* out,
                           const Execution& execution);

}  // namespace fctree::inspection
