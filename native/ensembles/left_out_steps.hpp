// How long steps are: a line search on the rows that rounds leave out, for each kind of tree and each output.
#pragma once

#include <algorithm>
#include <vector>

#include "ensembles/boosted_set.hpp"
#include "ensembles/turns.hpp"

namespace fctree::ensembles {

constexpr index_t kStepKinds = 2;  // curvature trees and step trees of either kind (turns.hpp)

// Sums over rounds of what the steps of a kind of trees, without the learning rate, do on these rows. Trees that were
// not kept count as well, since those that these rows chose look better on them than they are.
class LeftOutSteps {
 public:
  explicit LeftOutSteps(index_t n_outputs) : n_outputs_(n_outputs), sums_(kStepKinds * n_outputs) {}

  const std::vector<StepTerms>& sums() const { return sums_; }  // (kStepKinds, n_outputs)
  void recall(const std::vector<StepTerms>& sums) { sums_ = sums; }

  // Steps of that rate.
  void add(index_t kind, const StepSums& steps, double rate) {
    for (index_t k = 0; k < n_outputs_; ++k) at(kind, k).add(steps.of_outputs[k], rate);
  }
  // Full steps of a loss without second derivatives, which was `loss` before: the mean curvature along them, of all outputs.
  void add_full(index_t kind, const StepSums& steps, double loss) {
    const double decrease = steps.total().decrease;
    for (index_t k = 0; k < n_outputs_; ++k) at(kind, k).add({decrease, 2.0 * (steps.loss - loss + decrease)});
  }

  // The multiple of each output's steps that would have lowered the loss most, between 0 and 1.
  std::vector<double> shares(index_t kind) {
    std::vector<double> of_outputs(n_outputs_, 1.0);
    for (index_t k = 0; k < n_outputs_; ++k) {
      const auto [decrease, curvature] = at(kind, k);
      if (curvature > 0.0) of_outputs[k] = std::min(std::max(decrease / curvature, 0.0), 1.0);
    }
    return of_outputs;
  }

 private:
  StepTerms& at(index_t kind, index_t output) { return sums_[is_of_steps(kind) * n_outputs_ + output]; }

  index_t n_outputs_;
  std::vector<StepTerms> sums_;
};

}  // namespace fctree::ensembles
