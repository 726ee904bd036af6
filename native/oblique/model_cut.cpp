#include "oblique/model_cut.hpp"

#include <algorithm>

#include "oblique/dense.hpp"

namespace fctree {

namespace {

}  // namespace

std::vector<index_t> quantile_cuts(const TrainingData& data, const NodeRows& node,
                                   const double* scores, const std::uint64_t* order,
                                   const ModelCutRules& rules) {
  const double gap = least_gap(rules.cut, scores[position(order[0])],
                               scores[position(order[node.size - 1])]);
  std::vector<index_t> sizes;
  std::vector<double> weights;  // of the left side
  double left_weight = 0.0;
  for (index_t i = 0; i + rules.cut.min_samples_leaf < node.size; ++i) {
    const std::uint32_t at = position(order[i]);
    left_weight += data.weight == nullptr ? 1.0 : data.weight[node.rows[at]];
    if (i + 1 < rules.cut.min_samples_leaf) continue;
    if (!(scores[position(order[i + 1])] - scores[at] > gap)) continue;
    sizes.push_back(i + 1);
    weights.push_back(left_weight);
  }
  if (static_cast<index_t>(sizes.size()) <= rules.max_thresholds) return sizes;

  double total = left_weight;
  for (index_t i = node.size - rules.cut.min_samples_leaf; i < node.size; ++i)
    total += data.weight == nullptr ? 1.0 : data.weight[node.rows[position(order[i])]];
  std::vector<index_t> cuts;
  for (index_t q = 1; q <= rules.max_thresholds; ++q) {
    const double target = total * static_cast<double>(q) / (rules.max_thresholds + 1.0);
    auto at = std::lower_bound(weights.begin(), weights.end(), target);
    if (at == weights.end() || (at != weights.begin() && target - *(at - 1) <= *at - target)) --at;
    const index_t size = sizes[at - weights.begin()];
    if (cuts.empty() || cuts.back() < size) cuts.push_back(size);
  }
  return cuts;
}

Cut best_model_cut(const TrainingData& data, const NodeRows& node, const ChildModels& models,
                   const RowMatrix& products, const double* scores, const ModelCutRules& rules) {
  Cut best;
  std::vector<std::uint64_t> items(node.size), spare(node.size);
  const std::uint64_t* order = argsort(scores, node.size, {items.data(), spare.data()});
  const std::vector<index_t> cuts = quantile_cuts(data, node, scores, order, rules);
  if (cuts.empty()) return best;

  std::vector<std::int32_t> rows(cuts.back());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = node.rows[position(order[i])];
  const index_t width = products.cols();
  std::vector<double> tile(2 * kTileRows * width);
  SideScratch scratch(models.n_features);
  RowMatrix left = RowMatrix::Zero(width, width);
  RowMatrix right(width, width);
  index_t summed = 0;
  for (const index_t size : cuts) {
    const RowSelection between = {data.x,          data.y,           data.weight,
                                  rows.data() + summed, size - summed, data.n_features,
                                  data.n_outputs};
    dense_kernels().add_products(between, models.origin.data(), tile.data(), left.data());
    summed = size;
    right = products - left;
    const double left_loss = side_loss(models, left, scratch);
    const double right_loss = side_loss(models, right, scratch);
    const double decrease = rules.node_loss - left_loss - right_loss;
    // Losses, not their differences, carry the rounding: ties are judged on their scale.
    if (!(decrease > best.decrease + 1e-10 * rules.node_loss)) continue;
    const double lower = scores[position(order[size - 1])];
    const double upper = scores[position(order[size])];
    best.found = true;
    best.threshold = midpoint(lower, upper);
    best.decrease = decrease;
    best.n_left = size;
    best.left_loss = left_loss;
    best.right_loss = right_loss;
  }
  return best;
}

}  // namespace fctree
