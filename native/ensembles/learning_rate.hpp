// A learning rate that follows the loss of samples held out.
//
// On noisy targets steps have to be small; on others the rounds are over before small steps arrive.
// The trees of the first rounds don't see a few of the samples: while the loss of these falls fast, the
// rate is doubled, again and again, and the next rounds don't see them either. Of several scores it is doubled also
// where the loss falls slowly but steadily.
#pragma once

#include <vector>

#include "ensembles/row_sample.hpp"

namespace fctree::ensembles {

class LearningRate {
 public:
  // A constant, or 0 for one that is chosen, and goes with the loss's length of steps; the scores that a tree serves.
  LearningRate(double constant, double step_length, index_t n_outputs);

  double value() const { return rate_; }
  // If it is chosen, from now on, and if there are enough samples in all places together.
  void hold_out(const RowSampler& rows, const Execution& execution);
  // 0 for each sample held out, 1 for the others; null while none is, in any place.
  const std::vector<std::uint8_t>* seen() const { return holds_out_ ? &seen_ : nullptr; }
  // Whether it goes by the loss of the samples held out after so many rounds.
  bool judges_after(index_t n_rounds) const;
  void judge(index_t n_rounds, double loss_held_out);
  // What was judged when the next round, with this rate, was grown.
  void recall(index_t n_rounds, double loss_held_out, double next_rate);

 private:
  void settle(index_t n_rounds, double loss_held_out, bool falls);

  double rate_;
  bool is_chosen_;
  index_t n_outputs_;
  bool holds_out_ = false;
  std::vector<std::uint8_t> seen_;
  double last_loss_ = 0.0;
  double first_brought_ = 0.0;  // by the first rounds
  index_t n_doubled_ = 0;
};

}  // namespace fctree::ensembles
