#include "inspection/oblique_attributions.hpp"

#include <algorithm>

#include "inspection/coalition_walk.hpp"
#include "inspection/line_walk.hpp"

namespace fctree::inspection {

namespace {

constexpr index_t kTaskRows = 4;  // which share a tree in the cache

template <class Walk>
void attribute_rows(const ObliqueAttributionTask& task, index_t first, index_t last, Walk& walk,
                    double* out) {
  const index_t d = task.trees.n_features, width = task.n_players * task.trees.n_outputs;
  for (index_t tree = 0; tree < task.n_trees; ++tree)
    for (index_t row = first; row < last; ++row)
      for (index_t b = 0; b < task.n_background; ++b) {
        check_interrupt();
        walk.add(task.x + row * d, task.background + b * d, tree, out + row * width);
      }
  for (index_t at = first * width; at < last * width; ++at)
    out[at] /= static_cast<double>(task.n_background);
}

}  // namespace

void attribute_oblique(const ObliqueAttributionTask& task, double* out,
                       const Execution& execution) {
  const SparseTrees trees(task.trees, task.n_trees, task.player);
  std::fill(out, out + task.n_samples * task.n_players * task.trees.n_outputs, 0.0);
  for_each_part(execution, task.n_samples, kTaskRows, [&](index_t, index_t first, index_t last) {
    if (task.along_lines) {
      LineWalk walk(trees);
      attribute_rows(task, first, last, walk, out);
    } else {
      CoalitionWalk walk(trees, task.n_players, task.player);
      attribute_rows(task, first, last, walk, out);
    }
  });
}

}  // namespace fctree::inspection
