#include "oblique/split_search/threshold.hpp"

#include <memory>

namespace fctree::oblique {

void sort_scores(const double* scores, const std::int32_t* from, index_t n, double* values,
                 std::int32_t* rows) {
  const std::unique_ptr<std::uint64_t[]> scratch(new std::uint64_t[2 * n]);  // not set to 0
  const std::uint64_t* order = argsort(scores, n, {scratch.get(), scratch.get() + n});
  for (index_t i = 0; i < n; ++i) {
    const std::uint32_t at = position(order[i]);
    values[i] = scores[at];
    rows[i] = from == nullptr ? static_cast<std::int32_t>(at) : from[at];
  }
}

SortedScores::SortedScores(const double* scores, const NodeRows& node)
    : size(node.size), values(new double[node.size]), rows(new std::int32_t[node.size]) {
  sort_scores(scores, node.rows, node.size, values.get(), rows.get());
}

namespace {

// kOutputs: 1, whose sum stays in a register, or Eigen::Dynamic.
template <int kOutputs>
Cut best_cut_of(const TrainingData& data, const OrderedScores& scores, const Vector& mean,
                double weight, const CutRules& rules) {
  using Outputs = Eigen::Matrix<double, kOutputs, 1>;
  const Outputs centre = mean;
  Outputs sums = Outputs::Zero(mean.size());  // of w (y - mean), left of the cut
  const index_t n = scores.size;
  const double gap = least_gap(rules, scores.values[0], scores.values[n - 1]);
  double left_weight = 0.0, to_beat = 0.0;
  Cut best;
  for (index_t i = 0; i + rules.min_samples_leaf < n; ++i) {
    const index_t row = scores.rows[i];
    const double own_weight = data.weight_of(row);
    left_weight += own_weight;
    sums += own_weight * (Eigen::Map<const Outputs>(data.y + row * sums.size(), sums.size()) -
                          centre);
    if (i + 1 < rules.min_samples_leaf) continue;
    const double own = scores.values[i], upper = scores.values[i + 1];
    if (!(upper - own > gap)) continue;
    const double right_weight = weight - left_weight;
    if (!(right_weight > 0.0)) break;
    // As is_better(decrease, best.decrease), without a division per sample.
    if (!(sums.squaredNorm() > to_beat * (left_weight * right_weight))) continue;
    best.found = true;
    best.decrease = constant_decrease(sums, left_weight, right_weight);
    best.threshold = midpoint(own, upper);
    best.n_left = i + 1;
    to_beat = least_better(best.decrease);
  }
  return best;
}

}  // namespace

Cut best_cut(const TrainingData& data, const OrderedScores& scores, const Vector& mean,
             double weight, const CutRules& rules) {
  return data.n_outputs == 1 ? best_cut_of<1>(data, scores, mean, weight, rules)
                             : best_cut_of<Eigen::Dynamic>(data, scores, mean, weight, rules);
}

}  // namespace fctree::oblique
