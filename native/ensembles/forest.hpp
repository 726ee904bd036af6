// Forests of oblique trees. Each tree is grown by the grower of single trees (grow.hpp) on
// samples that count as often as they were drawn (row_sample.hpp), with features drawn for each
// node; the trees share only the input and grow in parallel, each on one thread. The forest's
// prediction is the mean of the trees'.
#pragma once

#include <vector>

#include "core/parallel.hpp"
#include "ensembles/ensemble.hpp"
#include "ensembles/params.hpp"
#include "oblique/params.hpp"
#include "ridge/moments.hpp"

namespace fctree::ensembles {

using namespace ridge;

struct ObliqueForestTask {
  TrainingData data;    // y is (n_samples, n_outputs)
  index_t first_tree;   // trees that a forest to continue has
};

// params.node_features.seed and .tree are set for each tree.
ObliqueTreesArrays grow_forest(const ObliqueForestTask& task, const ObliqueParams& tree_params,
                               const ObliqueForestParams& params, const Execution& execution);

// Out-of-bag predictions: sums of the scores of the trees without each sample, and the number of these
// trees. The trees are the first n_trees of the forest.
struct OutOfBagSums {
  double* scores;   // (n_samples, n_outputs)
  index_t* counts;  // (n_samples)
};
void sum_out_of_bag(const ObliqueForestTask& task, const ObliqueTreesView& trees, index_t n_trees,
                    const ObliqueForestParams& params, const OutOfBagSums& out,
                    const Execution& execution);

}  // namespace fctree::ensembles
