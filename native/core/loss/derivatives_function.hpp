// A loss that is known by its derivatives alone, which a function of the caller computes.
#pragma once

#include <memory>

#include "core/loss/loss.hpp"

namespace fctree {

struct DerivativesFunction {
  // Writes gradients and hessians of all training samples, hessians of at least 0. False ends the
  // growth as an interrupt does.
  bool (*compute)(void* context, const ScoredSamples& samples, const Derivatives& out);
  void* context;
};

// Scores start at 0. `function` is kept by reference.
std::unique_ptr<Loss> make_loss_of(const DerivativesFunction& function);

}  // namespace fctree
