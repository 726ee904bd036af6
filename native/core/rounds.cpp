#include "core/rounds.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/errors.hpp"
#include "core/patience.hpp"

namespace fctree {

namespace {

// Records the losses of the current model; returns what early stopping goes by.
double record(const RoundLosses& losses, const RoundPlan& plan, const RoundListener& listener,
              RoundHistory& history) {
  const double train = losses.train.mean();
  if (losses.has_value && !std::isfinite(train))
    throw std::invalid_argument("the training loss is not finite after " +
                                std::to_string(plan.first_iteration + history.n_rounds) +
                                " rounds: the targets, init_score or learning_rate are too large");
  history.train_loss.push_back(train);
  const LossSum& decisive = losses.evals.empty() ? losses.train : losses.evals[0].loss;
  if (losses.has_value && !std::isfinite(decisive.mean()))
    throw std::invalid_argument("the loss of the evaluation samples is not finite: their targets or "
                                "init_score are too large");
  if (!losses.evals.empty()) history.eval_loss.push_back(decisive.mean());
  double judged = decisive.scaled_mean() / plan.unit;
  if (!losses.evals.empty() && listener.judge != nullptr && !listener.judge(listener.context, losses.evals, &judged))
    throw Interrupted();
  history.judged.push_back(judged);
  return judged;
}

// Whether early stopping went by these losses before the fit that this one continues: the last is that of the
// model it kept.
bool are_of(const std::vector<double>& past, double continued) {
  constexpr double kRounding = 1e-9;
  return !past.empty() &&
         (past.back() == continued || std::abs(past.back() - continued) <= kRounding * std::abs(continued));
}

void grow_rounds(GrowingModel& model, const RoundPlan& plan, const RoundListener& listener,
                 RoundHistory& history) {
  Patience patience(plan.n_iter_no_change, plan.tol);
  const double first = record(model.evaluate(), plan, listener, history);
  if (plan.early_stopping && are_of(plan.past_losses, first)) history.judged = plan.past_losses;
  const std::vector<double> past = history.judged;
  patience.resume(past);
  const auto n_past = static_cast<index_t>(past.size()) - 1;
  bool goes_on = !(plan.early_stopping && n_past > 0 && patience.is_over());
  while (goes_on && history.n_rounds < plan.max_iter) {
    const index_t iteration = plan.first_iteration + history.n_rounds;
    model.grow_round(iteration);
    ++history.n_rounds;
    const double loss = record(model.evaluate(), plan, listener, history);
    goes_on = listener.after_round(listener.context, iteration, history.train_loss.back(),
                                   history.eval_loss.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                             : history.eval_loss.back());
    patience.take(loss);
    if (plan.early_stopping && history.n_rounds >= plan.min_rounds && patience.is_over())
      goes_on = false;
  }
  history.best_iteration =
      plan.early_stopping ? patience.best_round() - n_past : history.n_rounds;
  history.judged.resize(n_past + history.best_iteration + 1);
}

}  // namespace

RoundHistory run_rounds(GrowingModel& model, const RoundPlan& plan, const RoundListener& listener,
                        const Collective* all) {
  RoundHistory history;
  try {
    grow_rounds(model, plan, listener, history);
  } catch (const Interrupted&) {
    if (all == nullptr || history.train_loss.empty()) throw;
    history.n_rounds = static_cast<index_t>(history.train_loss.size()) - 1;
    history.best_iteration = history.n_rounds;
    history.is_broken_off = true;
  }
  return history;
}

}  // namespace fctree
