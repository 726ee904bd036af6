// Training an ensemble of soft trees by mini-batches (Hazimeh et al. 2020, section 4; Adam: Kingma
// and Ba 2015). A step: standardise the batch, forward, loss, backward, update. Buffers are made
// once; a step allocates only when its samples reach more leaves than any before.
#pragma once

#include <vector>

#include "core/loss/registry.hpp"
#include "core/parallel.hpp"
#include "core/rounds.hpp"
#include "core/table.hpp"
#include "soft/params.hpp"

namespace fctree::soft {

// Samples with their targets, (n_targets, n_samples), and weights or null.
struct SoftSamples {
  Table x;
  index_t n_samples;
  const double* y;
  const double* weight;
};

// The scores of a model are offset + multiplier * output.
struct SoftTask {
  SoftSamples train;
  const SoftSamples* eval;          // that early stopping goes by, or null
  std::vector<double> past_losses;  // SoftHistory::judged of the fit that this one continues
  LossChoice loss;
  index_t n_targets;
  index_t n_outputs;
  const double* offset;  // (n_outputs,)
  double multiplier;
};

// The arrays that predictions depend on; p counts the intercept's constant feature.
template <class T>
struct SoftWeights {
  T* splits;     // (n_trees, n_splits, p)
  T* leaves;     // (n_trees, n_leaves, n_outputs)
  double* mean;  // (n_features,), running
  double* variance;
};

// The state of training, changed in place but for the shape of the trees.
template <class T>
struct SoftState {
  const std::int32_t* children;  // (n_splits, 2)
  index_t n_splits;
  SoftWeights<T> last;
  SoftWeights<T> best;  // with the least loss of the evaluation samples, if there are any
  T* split_first_moment;
  T* split_second_moment;
  T* leaf_first_moment;
  T* leaf_second_moment;
  double* reached_leaves;  // (n_trees,) LayerPass::reached, so that training continues exactly
  std::int64_t n_batches;  // seen by the running moments and Adam
  std::int64_t n_epochs;
};

// One value per epoch, unless it says otherwise.
struct SoftHistory {
  std::vector<double> train_loss;  // mean over the epoch's batches, before their steps
  std::vector<double> eval_loss;   // after the epoch
  std::vector<double> reached;     // mean leaves per sample and tree in its batches
  std::vector<double> judged;      // what early stopping goes by: the loss before its first epoch, and after each since
};

// Standard deviations of normal weights to start from; 0 for zeros.
struct InitialSpread {
  double splits;
  double intercepts;  // the last weight of each split, where `has_intercept`
  double leaves;
  bool has_intercept;
};
template <class T>
void draw_weights(const Ensemble<T>& shape, const InitialSpread& spread, std::uint64_t seed,
                  T* split_weights, T* leaf_weights, const Execution& execution);

// Trains for params.max_epochs more epochs, or until it stops early. The listener is told of each epoch.
template <class T>
SoftHistory train_soft(const SoftTask& task, const SoftTreeParams& params, SoftState<T>& state,
                       const RoundListener& listener, const Execution& execution);

}  // namespace fctree::soft
