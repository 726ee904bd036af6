// Attributions of the raw scores of oblique trees: means over the background.
#pragma once

#include "core/parallel.hpp"
#include "inspection/sparse_trees.hpp"

namespace fctree::inspection {

struct ObliqueAttributionTask {
  ObliqueTreesView trees;
  index_t n_trees;
  const double* x;  // (n_samples, n_features)
  index_t n_samples;
  const double* background;  // (n_background, n_features), one row at least
  index_t n_background;
  const index_t* player;  // (n_features)
  index_t n_players;
  bool along_lines;  // path attributions, else Shapley values
};

// out (n_samples, n_players, n_outputs), added up tree by tree and in the order of the background.
void attribute_oblique(const ObliqueAttributionTask& task, double* out, const Execution& execution);

}  // namespace fctree::inspection
