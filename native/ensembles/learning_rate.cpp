#include "ensembles/learning_rate.hpp"

namespace fctree::ensembles {

namespace {

constexpr double kFirst = 0.05;
constexpr index_t kRounds = 50;  // from one judgement to the next
constexpr double kFallen = 0.7;  // of the loss: at less after as many rounds the rate is doubled
// Of what the first rounds have brought: where one tree serves several scores, and as many rounds again bring more
// than this, they are too few for the rate. The rate that they have doubled may be doubled for less.
constexpr double kSteady = 0.125;
constexpr double kSteadyAgain = 0.08;
constexpr index_t kMostDoubled = 3;
constexpr double kMostHeldOut = 0.05;   // of all samples
constexpr index_t kFewestHeldOut = 40;  // different ones
constexpr index_t kDraw = -1;           // of no tree

}  // namespace

LearningRate::LearningRate(double constant, double step_length, index_t n_outputs)
    : rate_(constant > 0.0 ? constant : kFirst * step_length), is_chosen_(!(constant > 0.0)),
      n_outputs_(n_outputs) {}

// The fewest that are enough, by halves.
void LearningRate::hold_out(const RowSampler& rows, const Execution& execution) {
  if (!is_chosen_) return;
  std::vector<std::uint8_t> seen;
  for (double share = kMostHeldOut;; share *= 0.5) {
    rows.draw_part(kDraw, 1.0 - share, nullptr, execution, seen);
    if (rows.count_left_out(seen, execution.all) < kFewestHeldOut) return;
    seen_ = seen;
    holds_out_ = true;
  }
}

bool LearningRate::judges_after(index_t n_rounds) const {
  return holds_out_ && n_rounds % kRounds == 0;
}

void LearningRate::judge(index_t n_rounds, double loss_held_out) {
  const double brought = last_loss_ - loss_held_out;
  const double enough = n_rounds == 2 * kRounds ? kSteady : kSteadyAgain;
  const bool is_steady = n_outputs_ > 1 && brought > enough * first_brought_;
  settle(n_rounds, loss_held_out, is_steady || loss_held_out < kFallen * last_loss_);
}

void LearningRate::recall(index_t n_rounds, double loss_held_out, double next_rate) {
  settle(n_rounds, loss_held_out, next_rate > rate_);
}

void LearningRate::settle(index_t n_rounds, double loss_held_out, bool falls) {
  if (n_rounds == kRounds) first_brought_ = last_loss_ - loss_held_out;
  last_loss_ = loss_held_out;
  if (n_rounds <= kRounds) return;  // nothing to compare with
  if (falls) {
    rate_ *= 2.0;
    ++n_doubled_;
  }
  holds_out_ = falls && n_doubled_ < kMostDoubled;
}

}  // namespace fctree::ensembles
