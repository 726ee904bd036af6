#include "inspection/shapley_weights.hpp"

namespace fctree::inspection {

ShapleyWeights::ShapleyWeights() : binomial_() {
  for (index_t n = 0; n < kMostPlayers + 2; ++n) {
    binomial_[n][0] = 1.0;
    for (index_t k = 1; k <= n; ++k)
      binomial_[n][k] = binomial_[n - 1][k - 1] + (k < n ? binomial_[n - 1][k] : 0.0);
  }
}

}  // namespace fctree::inspection
