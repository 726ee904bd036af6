// Gradient boosting with oblique trees. A round:
//
//   1. derivatives of the loss at the scores F, and from them the targets and weights of a
//      weighted least-squares problem (working_response.hpp)
//   2. a sample of rows and of features; a tree of each kind that takes part (contenders.hpp), grown by the
//      grower of single trees (grow.hpp)
//   3. the leaves' bounds, and their constants where the loss asks for an order statistic
//      (leaf_values.hpp). Of several kinds the tree stays that does best on the rows that were left out.
//   4. F <- F + learning_rate * share * leaf model, by the code that predicts: for each output the share of the
//      steps of that kind of tree that has held on the rows left out (left_out_steps.hpp), or 1 for outer quantiles
//   5. the losses of the training and evaluation samples; early stopping (core/rounds.hpp)
//
// A model continued is, bit for bit, the model grown at once.
#pragma once

#include <vector>

#include "core/loss/registry.hpp"
#include "ensembles/boosting_statistics.hpp"
#include "ensembles/params.hpp"
#include "oblique/params.hpp"

namespace fctree::ensembles {

// The decisions about a tree.
struct GrownRound {
  index_t kind;       // of the tree
  double rate = 0.0;  // the factor of its step; 0 for trees of a continued model, which have it in their leaves
  std::vector<StepTerms> steps;  // sums up to this one (left_out_steps.hpp)
};

struct ObliqueBoostingTask {
  BoostedSamples train;
  std::vector<BoostedSamples> evals;
  BoostedSizes sizes;
  LossChoice loss;
  const double* baseline;            // (n_outputs,) of a model to continue, or null to find it
  const ObliqueTreesView* continued; // the trees of that model, or null
  const index_t* groups = nullptr;   // of the features (training_data.hpp)
  BoostingStatistics* statistics = nullptr;  // null where all samples are here
  std::vector<double> past_losses;   // of a fit that goes on (core/rounds.hpp)
  std::vector<GrownRound> past;      // of each tree so far

  index_t first_iteration() const { return static_cast<index_t>(past.size()); }
};

struct ObliqueBoostingResult {
  ObliqueTreesArrays trees;
  std::vector<double> baseline;
  std::vector<GrownRound> rounds;  // also those whose trees were not kept
  RoundHistory history;
  double alpha = 0.0;         // the penalty of the first kind
};

// kinds: the parameters of curvature trees, and of step trees if these take part. If the first choose their
// penalty at the root, that of the first round holds for all.
ObliqueBoostingResult boost_oblique(const ObliqueBoostingTask& task,
                                    const std::vector<ObliqueParams>& kinds,
                                    const ObliqueBoostingParams& params,
                                    const RoundListener& listener, const Execution& execution);

}  // namespace fctree::ensembles
