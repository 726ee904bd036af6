// When training stops early: after some rounds none of which lowered the loss by tol; and which
// round was the best.
#pragma once

#include <limits>
#include <vector>

#include "core/types.hpp"

namespace fctree {

class Patience {
 public:
  Patience(index_t n_iter_no_change, double tol) : n_iter_no_change_(n_iter_no_change), tol_(tol) {}

  // The loss before the first round, if it counts: the model may be best as it was.
  void start(double loss) { best_loss_ = waiting_from_ = loss; }

  // Goes on from what another fit recorded: the loss before its first round, and that after each.
  void resume(const std::vector<double>& losses) {
    start(losses[0]);
    for (std::size_t i = 1; i < losses.size(); ++i) take(losses[i]);
  }

  // Records the loss after the next round; returns whether it is the smallest so far.
  bool take(double loss) {
    ++n_rounds_;
    if (loss < waiting_from_ - tol_) {
      waiting_from_ = loss;
      last_improvement_ = n_rounds_;
    }
    if (!(loss < best_loss_)) return false;
    best_loss_ = loss;
    best_round_ = n_rounds_;
    return true;
  }

  bool is_over() const { return n_rounds_ - last_improvement_ >= n_iter_no_change_; }
  // The round with the smallest loss, 0 for the start.
  index_t best_round() const { return best_round_; }

 private:
  index_t n_iter_no_change_;
  double tol_;
  index_t n_rounds_ = 0;
  index_t last_improvement_ = 0;
  index_t best_round_ = 0;
  double best_loss_ = std::numeric_limits<double>::infinity();
  double waiting_from_ = std::numeric_limits<double>::infinity();  // the last loss lower by tol
};

}  // namespace fctree
