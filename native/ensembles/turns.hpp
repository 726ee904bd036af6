// Which kinds of trees a round grows.
//
// Growing one tree of each kind and keeping the best costs as much as keeping all of them. So a kind takes part in
// every round only for four rounds after one of its trees was kept, and then in every eighth.
#pragma once

#include <utility>
#include <vector>

#include "core/types.hpp"

namespace fctree::ensembles {

// The numbers of the kinds: curvature trees, step trees, curvature trees of what a linear model of all features leaves,
// step trees of few levels, and linear models (trees of one leaf).
constexpr index_t kCurvature = 0, kSteps = 1, kResidual = 2, kFewSteps = 3, kLinear = 4;

constexpr bool is_of_steps(index_t kind) { return kind == kSteps || kind == kFewSteps; }

class Turns {
 public:
  // Of those kinds that a model has.
  explicit Turns(std::vector<bool> has) : has_(std::move(has)), since_kept_(has_.size(), 1) {}

  bool has(index_t kind) const { return has_[kind]; }

  // The kind that was kept last always does.
  bool takes_part(index_t kind) const {
    const index_t rounds = since_kept_[kind];
    return has(kind) && (rounds <= 4 || rounds % 8 == 0);
  }
  // At the end of a round. A kind that the model no longer has changes nothing.
  void keep(index_t kind) {
    if (kind < 0 || !has(kind)) return;
    for (index_t& rounds : since_kept_) ++rounds;
    since_kept_[kind] = 1;
  }

 private:
  std::vector<bool> has_;
  std::vector<index_t> since_kept_;  // this round is the first, second, .. after one that kept it
};

}  // namespace fctree::ensembles
