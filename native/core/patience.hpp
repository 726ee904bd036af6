// When training stops early: after some rounds none of which lowered the loss by tol; and which
// round was the best.
#pragma once

#include <limits>

#include "core/types.hpp"

namespace fctree {

class Patience {
 public:
  // The loss before the first round, if it counts: the model may be best as it was.
  void start(double loss) { best_loss_ = waiting_from_ = loss; }

  // Takes the loss after `round` rounds; whether it is the least so far.
  bool take(index_t round, double loss, double tol) {
    if (loss < waiting_from_ - tol) {
      waiting_from_ = loss;
      last_improvement_ = round;
    }
    if (!(loss < best_loss_)) return false;
    best_loss_ = loss;
    return true;
  }

  index_t rounds_waited(index_t round) const { return round - last_improvement_; }

 private:
  double best_loss_ = std::numeric_limits<double>::infinity();
  double waiting_from_ = std::numeric_limits<double>::infinity();  // the last loss lower by tol
  index_t last_improvement_ = 0;
};

}  // namespace fctree
