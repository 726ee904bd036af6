// Gradient boosting with symmetric trees (Sun and Raskutti, 2025, section 4.4; Ustimenko, Beliakov and
// Prokhorenkova, 2023). A round:
//
//   1. derivatives of the loss at the scores F
//   2. a tree for the gradients (grow.hpp), the leaves' values (leaf_values.hpp)
//   3. F <- F0 + (1 - model_shrink_rate * learning_rate) (F - F0) + learning_rate * value[leaf]
//   4. the losses of the training and evaluation samples; early stopping (core/rounds.hpp)
//
// F0 is the loss's best constant, or what the caller gives.
#pragma once

#include <memory>
#include <vector>

#include "core/loss/registry.hpp"
#include "core/parallel.hpp"
#include "core/rounds.hpp"
#include "symmetric/binned.hpp"
#include "symmetric/feature_matrix.hpp"
#include "symmetric/interactions.hpp"
#include "symmetric/model.hpp"
#include "symmetric/params.hpp"

namespace fctree::symmetric {

// Samples with their targets, (n_targets, n_samples).
struct LabelledSamples {
  std::vector<FeatureMatrix> x;  // one or more, one behind the other
  const double* y;
  const double* weight;   // or null
  const double* initial;  // F0 of each sample (n_outputs, n_samples), or null for the baseline
  const double* raw;      // F of the model to continue (n_outputs, n_samples), or null for F0
  // The number of each matrix's first sample among those of all places, by which samples are drawn.
  std::vector<index_t> first_sample = {0};

  index_t n_samples() const;
};

struct BoostingTask {
  LabelledSamples train;
  std::vector<LabelledSamples> evals;
  const double* thresholds;     // candidates (thresholds.hpp)
  const index_t* offsets;
  const std::int8_t* monotone;  // (n_features,) or null
  const double* baseline;       // (n_outputs,) F0 of a model to continue, or null to find it
  LossChoice loss;
  index_t n_outputs;
  index_t first_iteration;  // trees that the model has
  index_t min_rounds;       // before early stopping may end the growth
  const std::uint8_t* masked;  // (n_features,) features that no split may use, or null
  InteractionRules interactions;
  std::vector<double> past_losses;  // of a fit that goes on (core/rounds.hpp)
};

// The bins of a task's samples, which models grown on the same ones share.
struct BinnedSamples {
  BinnedSamples(const BoostingTask& task, const Execution& execution);
  // Some of the features.
  BinnedSamples(const BinnedSamples& from, const std::vector<index_t>& features);

  BinnedMatrix train;
  std::vector<std::unique_ptr<BinnedMatrix>> evals;
};

struct BoostingResult {
  SymmetricTreesArrays trees;
  std::vector<double> baseline;
  RoundHistory history;  // of the trees only the best_iteration first are to be kept
};

BoostingResult boost(const BoostingTask& task, const BoostingParams& params,
                     const RoundListener& listener, const Execution& execution);

// The same on samples binned before.
BoostingResult boost_binned(const BoostingTask& task, const BinnedSamples& binned,
                            const BoostingParams& params, const RoundListener& listener,
                            const Execution& execution);

}  // namespace fctree::symmetric
