// The loop of every model that grows round by round: losses before the first round and after each,
// early stopping, and cancellation by the listener. The model grows and evaluates, the loop does
// the rest.
#pragma once

#include <vector>

#include "core/collective.hpp"
#include "core/loss/loss.hpp"

namespace fctree {

// A sum of weighted losses and the sum of the weights. Partial sums merge by addition.
struct LossSum {
  LossValue loss;
  double weight = 0.0;
  double mean() const { return loss.reported / weight; }
  double scaled_mean() const { return loss.scaled / weight; }
};

// The loss of a set of evaluation samples, and their raw scores (n_outputs, n_samples).
struct Evaluation {
  LossSum loss;
  const double* raw;
};

struct RoundListener {
  // Called after each round; losses are means over the samples, eval that of the first evaluation
  // set, NaN without any. Returns whether to continue.
  bool (*after_round)(void* context, index_t iteration, double train_loss, double eval_loss);
  void* context;
  // Called before the first round and after each: writes what early stopping goes by instead of the first
  // evaluation set's loss in the outputs' units, if it does. False ends the growth as an interrupt does. Null:
  // the loss.
  bool (*judge)(void* context, const std::vector<Evaluation>& evaluations, double* loss) = nullptr;
};

// Rounds are numbered from the start of the model, so draws continue where a model is continued.
struct RoundPlan {
  index_t first_iteration;  // rounds of the model so far
  index_t max_iter;         // maximum number of further rounds
  index_t min_rounds;       // before early stopping may end the growth
  bool early_stopping;
  index_t n_iter_no_change;
  double tol;
  double unit;  // by which early stopping divides losses
  // Losses that early stopping went by, before the first round of all and after each one done, where a fit
  // continues another or resumes after losing a worker; else empty.
  std::vector<double> past_losses;
};

struct RoundLosses {
  LossSum train;
  std::vector<Evaluation> evals;
  bool has_value = true;  // of the loss; else all are NaN
};

class GrowingModel {
 public:
  virtual ~GrowingModel() = default;
  // Adds a round, from the derivatives of the last evaluation.
  virtual void grow_round(index_t iteration) = 0;
  // The losses of the current model, and the derivatives for the next round.
  virtual RoundLosses evaluate() = 0;
};

struct RoundHistory {
  std::vector<double> train_loss;  // before the first round and after each
  std::vector<double> eval_loss;   // the same of the first evaluation set; empty without any
  // The losses that early stopping has gone by, likewise: of all rounds that are kept, with those of the fit
  // that this one continues unless it is of other samples.
  std::vector<double> judged;
  index_t n_rounds = 0;
  // Rounds to keep, all unless early stopping finds fewer best; below 0 where the best one is among
  // the past.
  index_t best_iteration = 0;
  bool is_broken_off = false;      // because other places were lost
};

// Grows up to plan.max_iter rounds, as many as were done where other places are lost. Early stopping
// goes by what the listener judges, else by the first evaluation set, without any by the training
// samples. Throws std::invalid_argument where the training loss is no longer finite.
RoundHistory run_rounds(GrowingModel& model, const RoundPlan& plan, const RoundListener& listener,
                        const Collective* all = nullptr);

}  // namespace fctree
