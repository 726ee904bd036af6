// Arrays as they come from elsewhere, as the structures of the core.
#pragma once

#include <vector>

#include "distributed/shard_steps.hpp"
#include "ensembles/ensemble.hpp"
#include "ensembles/leaf_values.hpp"

namespace fctree::distributed {

using namespace ensembles;

// As JudgementArguments (step_arguments.hpp) has them, of n children.
struct JudgementArrays {
  const double* unit;
  const double* coef;
  const double* intercept;
  const double* mean;
  const double* inverse;
  const double* base;
};
std::vector<ChildJudgement> judgements_of(const JudgementArrays& arrays, index_t n,
                                          const TrainingData& sizes);

// vectors (d, rank), values (rank), cross (rank, K), mean (d + K).
struct SpectralArrays {
  const double* vectors;
  const double* values;
  const double* cross;
  const double* mean;
  double base;
  index_t rank;
};
SpectralFit spectral_fit_of(const SpectralArrays& arrays, const TrainingData& sizes);

// (n, 4): lowest, width, mean, spread.
std::vector<FeatureRange> ranges_of(const double* values, index_t n);

// columns (width), mean and scale (n_features).
struct MapArrays {
  const index_t* columns;
  index_t width;
  const double* mean;
  const double* scale;
  index_t n_features;
};
FeatureMap feature_map_of(const MapArrays& arrays);

// Mean and scale (n_features each) of sums (1 + 2 d) and largest values (d) about `first`.
std::vector<double> mean_and_scale(const double* sums, const double* largest, const double* first,
                                   index_t n_features);

// What decides a sample's score in a tree.
struct TreeArrays {
  const index_t* children_left;
  const index_t* children_right;
  const double* threshold;
  const double* coef;
  const index_t* leaf_index;
  const double* leaf_coef;  // or null
  const double* leaf_intercept;
  index_t n_nodes;
  index_t n_leaves;
  index_t n_outputs;
  index_t n_features;
};

// The largest of -score and of score (n_leaves n_outputs each) of each leaf over the samples
// that have a weight; -infinity where there are none.
std::vector<double> shard_leaf_ranges(const TreeArrays& tree, const double* x,
                                      const double* weight, index_t n_samples,
                                      const Execution& execution);

// A grown tree as the only one of an ensemble, its leaves bounded by those ranges.
ObliqueTreesArrays finish_tree(const ObliqueTreeArrays& tree, const double* ranges,
                               const BoundRules& rules, const MapArrays& map, double factor);

}  // namespace fctree::distributed
