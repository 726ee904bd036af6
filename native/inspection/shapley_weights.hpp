// Shapley values of unanimity games with opponents: the game that is worth 1 where all of `a` players
// are in the coalition and none of `m` others, and 0 otherwise.
#pragma once

#include <array>

#include "core/types.hpp"

namespace fctree::inspection {

class ShapleyWeights {
 public:
  static constexpr index_t kMostPlayers = 62;

  ShapleyWeights();

  // Value of each of the `a` players that have to be in: (a - 1)! m! / (a + m)!.
  double inside(index_t a, index_t m) const { return 1.0 / (a * binomial_[a + m][a]); }
  // Minus the value of each of the `m` players that have to be out: a! (m - 1)! / (a + m)!.
  double outside(index_t a, index_t m) const { return 1.0 / (m * binomial_[a + m][a]); }

 private:
  std::array<std::array<double, kMostPlayers + 2>, kMostPlayers + 2> binomial_;
};

}  // namespace fctree::inspection
