#include "oblique/split_search/threshold.hpp"

#include <memory>

#include "core/argsort.hpp"

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

template <int kOutputs>
Cut best_cut_of(const TrainingData& data, const OrderedScores& scores, const Vector& mean,
                double weight, const CutRules& rules) {
  using Outputs = Eigen::Matrix<double, kOutputs, 1>;
  const Outputs centre = mean;
  const index_t n = scores.size, n_outputs = mean.size();
  const double gap = least_gap(rules, scores.values[0], scores.values[n - 1]);
  ConstantScan<kOutputs> scan(n_outputs, weight);
  for (index_t i = 0; i + rules.min_samples_leaf < n; ++i) {
    const index_t row = scores.rows[i];
    const double own_weight = data.weight_of(row);
    scan.move(own_weight, own_weight * (Eigen::Map<const Outputs>(data.y + row * n_outputs,
                                                                  n_outputs) - centre));
    if (i + 1 < rules.min_samples_leaf) continue;
    const double own = scores.values[i], upper = scores.values[i + 1];
    if (upper - own > gap && scan.improves()) scan.take(midpoint(own, upper), i + 1);
  }
  return scan.best();
}

}  // namespace

Cut best_cut(const TrainingData& data, const OrderedScores& scores, const Vector& mean,
             double weight, const CutRules& rules) {
  return data.n_outputs == 1 ? best_cut_of<1>(data, scores, mean, weight, rules)
                             : best_cut_of<Eigen::Dynamic>(data, scores, mean, weight, rules);
}

}  // namespace fctree::oblique
