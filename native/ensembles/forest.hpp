// Forests of oblique trees. Each tree is grown by the grower of single trees (grow.hpp) on
// samples that count as often as they were drawn (row_sample.hpp), with features drawn for each
// node; the trees share only the input and grow in parallel, each on one thread, or one after the other,
// where they are few or would not fit into memory together, each on all. The forest's prediction is the
// mean of the trees'. All draws of a tree depend on its number alone: trees of one
// number and several kinds have the same samples.
#pragma once

#include <vector>

#include "core/parallel.hpp"
#include "ensembles/ensemble.hpp"
#include "ensembles/params.hpp"
#include "oblique/params.hpp"
#include "ridge/training_data.hpp"

namespace fctree::ensembles {

// The number of a tree's draws, and the place of its kind in the list of kinds.
struct ForestTree {
  index_t number;
  index_t kind;
};
// Grown on what a linear model of all features leaves, where trees would take all of them.
constexpr index_t kResidualKind = 3;  // RESIDUAL of fctree/ensembles

// data.y is (n_samples, n_outputs); node_features.seed and .tree of the kinds are set for each tree.
ObliqueTreesArrays grow_forest(const TrainingData& data, const std::vector<ForestTree>& wanted,
                               const std::vector<ObliqueParams>& kinds,
                               const ObliqueForestParams& params, const Execution& execution);

// Out-of-bag predictions: sums of the scores of the trees without each sample, and the number of these
// trees, of about this share of the samples, drawn for all trees; 0 of the others. The trees have these numbers, and
// groups of as many, one after the other, have sums of their own.
struct OutOfBagSums {
  double share;
  index_t n_groups;
  double* scores;   // (n_groups, n_samples, n_outputs)
  index_t* counts;  // (n_groups, n_samples)
};
void sum_out_of_bag(const TrainingData& data, const ObliqueTreesView& trees,
                    const std::vector<index_t>& numbers, const ObliqueForestParams& params,
                    const OutOfBagSums& out, const Execution& execution);

}  // namespace fctree::ensembles
