#include "oblique/threshold.hpp"

#include <vector>

namespace fctree {

Cut best_cut(const TrainingData& data, const NodeRows& node, const Vector& mean, double weight,
             const double* scores, const CutRules& rules) {
  const index_t n = node.size;
  const index_t n_outputs = data.n_outputs;
  std::vector<std::uint64_t> items(n), spare(n);
  const std::uint64_t* order = argsort(scores, n, {items.data(), spare.data()});
  const double gap = least_gap(rules, scores[position(order[0])], scores[position(order[n - 1])]);
  Vector sums = Vector::Zero(n_outputs);  // of w (y - mean), left of the cut
  double left_weight = 0.0;
  Cut best;
  for (index_t i = 0; i + rules.min_samples_leaf < n; ++i) {
    const std::uint32_t at = position(order[i]);
    const index_t row = node.rows[at];
    const double own_weight = data.weight == nullptr ? 1.0 : data.weight[row];
    const double* y = data.y + row * n_outputs;
    left_weight += own_weight;
    for (index_t k = 0; k < n_outputs; ++k) sums[k] += own_weight * (y[k] - mean[k]);
    if (i + 1 < rules.min_samples_leaf) continue;
    const double upper = scores[position(order[i + 1])];
    if (!(upper - scores[at] > gap)) continue;
    const double right_weight = weight - left_weight;
    if (!(right_weight > 0.0)) break;
    const double decrease = constant_decrease(sums, left_weight, right_weight);
    if (is_better(decrease, best.decrease)) {
      best.found = true;
      best.decrease = decrease;
      best.threshold = midpoint(scores[at], upper);
      best.n_left = i + 1;
    }
  }
  return best;
}

}  // namespace fctree
