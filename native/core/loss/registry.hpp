// The list of losses, from which the bindings, the estimators' parameters, the checks of targets
// and the tests are derived.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/loss/derivatives_function.hpp"
#include "core/loss/loss.hpp"

namespace fctree {

// A parameter of the estimators that a loss reads: a number between two others.
struct LossParameter {
  const char* name;  // null: none
  double low;
  double high;
  double value;  // unless the user gives one; NaN: the user has to
};

constexpr LossParameter kNoLossParameter = {nullptr, 0.0, 0.0, 0.0};

struct LossInfo {
  const char* name;    // as the estimators' parameter `loss` has it
  const char* task;    // "regression" or "classification"
  const char* domain;  // of targets: "real", "non_negative" (with a positive sum), "positive", "classes"
  const char* link;    // of a prediction to its score: "identity", "log", "logit"
  LossParameter parameter;
  std::unique_ptr<Loss> (*make)(double parameter, index_t n_outputs);
};

const std::vector<LossInfo>& losses();

// A loss as chosen by an estimator.
struct LossChoice {
  std::string name;
  double parameter;  // read by losses that have one
  const DerivativesFunction* function = nullptr;  // instead of a name
};

// Throws std::invalid_argument for a name that is not in the list.
std::unique_ptr<Loss> make_loss(const LossChoice& choice, index_t n_outputs);

}  // namespace fctree
