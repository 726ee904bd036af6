// The steps of growing a tree on the samples of one place: what distributed_statistics.cpp asks of each.
//
// Nodes are named by their numbers in ShardNodes. Matrices are row-major, one row a node or
// candidate; every result is that of sum_pieces, (n_pieces, n_items, item size).
#pragma once

#include "distributed/shard_rows.hpp"
#include "oblique/split_search/histogram.hpp"
#include "oblique/split_search/leave_one_out.hpp"
#include "oblique/split_search/screening.hpp"
#include "ridge/penalty_choice.hpp"

namespace fctree::distributed {

using namespace oblique;

struct NodeList {
  const index_t* node;
  index_t size;
};

// The nodes' ridge models: coef (n, K, d), intercept (n, K).
struct NodeModels {
  const double* coef;
  const double* intercept;
};

// Directions of candidates: axis (n), negative where direction (n, d) holds; thresholds
// (n, n_thresholds), ascending, infinite where there are no more.
struct Directions {
  const index_t* axis;
  const double* direction;
  const double* threshold;
  index_t n_thresholds;
};

// Packed products about shift (n, d + K), width^2 an item.
std::vector<double> shard_products(const ShardRows& rows, const NodeList& nodes,
                                   const double* shift, const Execution& execution);
// What add_diagonal adds up, 1 + 2 (d + K) an item.
std::vector<double> shard_diagonals(const ShardRows& rows, const NodeList& nodes,
                                    const double* shift, const Execution& execution);
// Packed products about mean (n, d + K) times the weighted residuals of an output: n K items.
std::vector<double> shard_residual_products(const ShardRows& rows, const NodeList& nodes,
                                            const double* mean, const NodeModels& models,
                                            const Execution& execution);
// The largest values of -x and of x in each node, (n, 2 d); -infinity without rows.
std::vector<double> shard_ranges(const ShardRows& rows, const NodeList& nodes,
                                 const Execution& execution);
// A sample of the largest weight of each node, the first of them: (n, 1 + d + K), the weight
// first, which is -1 without rows.
std::vector<double> shard_heaviest(const ShardRows& rows, const NodeList& nodes);

// What screening needs of a node beside its model: columns direction (n, C, d), less centre, over
// scale (n, C each); range (n, d) of features, of width 0 where there is nothing to screen.
struct ScreeningPlan {
  const double* direction;
  const double* centre;
  const double* scale;
  index_t n_columns;
  const FeatureRange* range;
};
// Bins, d kScreeningBins screening_width(C + 2, K) an item.
std::vector<double> shard_screening(const ShardRows& rows, const NodeList& nodes,
                                    const NodeModels& models, const ScreeningPlan& plan,
                                    const Execution& execution);

// Between the thresholds of each candidate, n_thresholds + 1 times: the number of samples and
// their packed products about shift (n, d + K); or under the constant criterion the number, the
// weight, and the sums of w (y - mean), mean (n, K).
std::vector<double> shard_cut_products(const ShardRows& rows, const NodeList& nodes,
                                       const Directions& candidates, const double* shift,
                                       const Execution& execution);
std::vector<double> shard_cut_sums(const ShardRows& rows, const NodeList& nodes,
                                   const Directions& candidates, const double* mean,
                                   const Execution& execution);

// Adds what is in the bins of each feature (histogram.hpp) to sums, (n_nodes, n_features, n_bins,
// 1 + n_terms). O(n d K).
void shard_bin_sums(const ShardRows& rows, const NodeList& nodes, const BinnedSamples& samples,
                    std::int64_t* sums, const Execution& execution);

// Sends the rows of split i (one threshold) to nodes 2 i and 2 i + 1, all others to none:
// writes node (n_samples).
void shard_part(const ShardRows& rows, const NodeList& splits, const Directions& cuts,
                std::int32_t* node, const Execution& execution);

// Leave-one-out decreases of each child, 3 an item: weight, total, squares. models are those of
// the children's parents and of the children, unit that of the parent's.
struct ChildJudgement {
  LeverageModel node;
  LeverageModel child;
  double unit;
};
std::vector<double> shard_decreases(const ShardRows& rows, const NodeList& children,
                                    const std::vector<ChildJudgement>& judgements,
                                    const Execution& execution);

// Errors of the grid of penalties in node 0, kGridSize.
std::vector<double> shard_grid_errors(const ShardRows& rows, const SpectralFit& fit,
                                      const Execution& execution);

}  // namespace fctree::distributed
