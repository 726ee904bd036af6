#include "oblique/bin_cut.hpp"

namespace fctree {

Cut best_between_bins(const GrowState& state, const OpenNode& node, const double* sums,
                      const FeatureBins& bins, index_t feature) {
  const index_t n_outputs = state.data.n_outputs;
  const Vector mean = state.target_mean(node);
  Vector left = Vector::Zero(n_outputs);
  double left_weight = 0.0;
  index_t n_left = 0, last = 0;  // the last bin on the left
  Cut best;
  for (index_t bin = 0; bin < bins.n_bins(); ++bin, sums += 2 + n_outputs) {
    if (sums[0] == 0.0) continue;
    const double right_weight = node.moments.weight - left_weight;
    if (state.leaves_enough(node, n_left) && left_weight > 0.0 && right_weight > 0.0) {
      const double decrease = constant_decrease(left, left_weight, right_weight);
      if (is_better(decrease, best.decrease))
        best = {true, bins.threshold_between(feature, last, bin), decrease, n_left, 0.0, 0.0};
    }
    n_left += static_cast<index_t>(sums[0]);
    left_weight += sums[1];
    left += VectorView(sums + 2, n_outputs) - sums[1] * mean;
    last = bin;
  }
  return best;
}

}  // namespace fctree
