// A learning rate that grows as long as steps hold on samples that their trees have not seen.
//
// On noisy targets steps have to be small; on others the rounds are over before small steps arrive. What steps do
// out of bag tells them apart: once boosting fits noise, the best multiple of its steps falls far below 1.
#pragma once

#include <vector>

#include "core/loss/loss.hpp"
#include "ensembles/boosted_set.hpp"

namespace fctree::ensembles {

class LearningRate {
 public:
  // A constant, or 0 for one that may grow, and goes with the loss and the number of samples.
  LearningRate(double constant, index_t n_samples, const Loss& loss);

  double value() const { return rate_; }
  // After each number of rounds from 0 on, with the sums of all their steps (left_out_steps.hpp).
  void judge(index_t n_rounds, const std::vector<StepTerms>& steps);

 private:
  double rate_;
  bool may_grow_;
  bool bends_;  // whether second derivatives of the loss depend on the scores
  double share_of_few_;
  index_t n_doubled_ = 0;
  StepTerms sums_;    // of all rounds up to the last judgement
  StepTerms recent_;  // of those since the one before
};

}  // namespace fctree::ensembles
