#include "oblique/split_search/ridge_split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/rng.hpp"
#include "ridge/dense.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kSampledRows = 16384;  // of a node of more than kMostSortedRows

// Positions of a sample, one in each of as many stretches, so that what recurs in the rows isn't met
// again and again at the same place.
std::vector<index_t> sampled_positions(index_t n) {
  const Random random(0, Purpose::quantile_sample);
  std::vector<index_t> positions(kSampledRows);
  for (index_t i = 0; i < kSampledRows; ++i) {
    const double at = static_cast<double>(i) +
                      random.uniform(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(n), 0);
    positions[i] = static_cast<index_t>(at * static_cast<double>(n) / kSampledRows);
  }
  return positions;
}

// Ascending thresholds, each between two scores of the sample.
std::vector<double> sample_quantiles(const TrainingData& data, const NodeRows& node,
                                     const double* scores, ModelCutRules rules) {
  std::vector<std::int32_t> rows;
  std::vector<double> own;
  for (const index_t at : sampled_positions(node.size)) {
    rows.push_back(node.rows[at]);
    own.push_back(scores[at]);
  }
  rules.cut.min_samples_leaf = 1;  // the node's is looked at when its own rows are counted
  return quantile_thresholds(data, {rows.data(), kSampledRows}, own.data(), rules);
}

// Of a large node, at quantiles of a sample: no rows are sorted, they are counted and put into intervals.
TriedCuts cuts_at_sample_quantiles(const TrainingData& data, const NodeRows& node,
                                   const double* scores, const ModelCutRules& rules) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> thresholds = sample_quantiles(data, node, scores, rules);
  const index_t n_intervals = static_cast<index_t>(thresholds.size()) + 1;
  std::vector<index_t> begins(n_intervals + 1, 0);
  std::vector<double> lowest(n_intervals, kInfinity), highest(n_intervals, -kInfinity);
  std::vector<std::int32_t> interval(node.size);
  for (index_t at = 0; at < node.size; ++at) {
    const index_t of_row = interval_of(thresholds.data(), n_intervals - 1, scores[at]);
    interval[at] = static_cast<std::int32_t>(of_row);
    ++begins[of_row + 1];
    lowest[of_row] = std::min(lowest[of_row], scores[at]);
    highest[of_row] = std::max(highest[of_row], scores[at]);
  }
  for (index_t i = 0; i < n_intervals; ++i) begins[i + 1] += begins[i];
  const double gap = least_gap(rules.cut, *std::min_element(lowest.begin(), lowest.end()),
                               *std::max_element(highest.begin(), highest.end()));
  TriedCuts cuts;
  for (index_t i = 0; i + 1 < n_intervals; ++i) {  // the sample is in every interval
    const index_t size = begins[i + 1];
    if (std::min(size, node.size - size) < rules.cut.min_samples_leaf ||
        !(lowest[i + 1] - highest[i] > gap))
      continue;
    cuts.sizes.push_back(size);
    cuts.thresholds.push_back(midpoint(highest[i], lowest[i + 1]));
  }
  cuts.rows.resize(node.size);
  std::vector<index_t> next(begins.begin(), begins.end() - 1);
  for (index_t at = 0; at < node.size; ++at) cuts.rows[next[interval[at]]++] = node.rows[at];
  return cuts;
}

}  // namespace

void ModelCutChoice::consider(const RowMatrix& left, index_t n_left, double threshold) {
  Waiting& cut = waiting_[n_waiting_++];
  cut.left = left;
  cut.n_left = n_left;
  cut.threshold = threshold;
  tried_.push_back(threshold);
  if (n_waiting_ == kCutsAtOnce || losses_.one_at_a_time()) judge();
}

void ModelCutChoice::judge() {
  std::array<Side, kSidesAtOnce> sides;
  std::array<double, kSidesAtOnce> losses;
  for (index_t i = 0; i < n_waiting_; ++i)
    for (index_t side = 0; side < 2; ++side)
      sides[2 * i + side] = {waiting_[i].left.data(), side == 1};
  losses_.of(sides.data(), 2 * n_waiting_, losses.data());
  for (index_t i = 0; i < n_waiting_; ++i) {
    const double decrease = node_loss_ - losses[2 * i] - losses[2 * i + 1];
    if (!is_better_by_models(decrease, best_.decrease, node_loss_)) continue;
    best_ = {true, waiting_[i].threshold, decrease, waiting_[i].n_left, losses[2 * i],
             losses[2 * i + 1]};
  }
  n_waiting_ = 0;
}

Cut ModelCutChoice::best() {
  if (n_waiting_ > 0) judge();
  const auto at = std::find(tried_.begin(), tried_.end(), best_.threshold);
  if (best_.found && at != tried_.begin()) best_.lower = *(at - 1);
  if (best_.found && at + 1 != tried_.end()) best_.upper = *(at + 1);
  return best_;
}

std::vector<index_t> quantile_cuts(const TrainingData& data, const NodeRows& node,
                                   const double* scores, const std::uint64_t* order,
                                   const ModelCutRules& rules) {
  const double gap = least_gap(rules.cut, scores[position(order[0])],
                               scores[position(order[node.size - 1])]);
  std::vector<index_t> sizes;
  std::vector<double> weights;  // of the left side
  sizes.reserve(node.size);
  weights.reserve(node.size);
  double left_weight = 0.0;
  for (index_t i = 0; i + rules.cut.min_samples_leaf < node.size; ++i) {
    const std::uint32_t at = position(order[i]);
    left_weight += data.weight_of(node.rows[at]);
    if (i + 1 < rules.cut.min_samples_leaf) continue;
    const double next = scores[position(order[i + 1])];
    if (!(next - scores[at] > gap) || !(next > rules.lower && scores[at] < rules.upper)) continue;
    sizes.push_back(i + 1);
    weights.push_back(left_weight);
  }
  if (static_cast<index_t>(sizes.size()) <= rules.max_thresholds) return sizes;

  const bool is_part = std::isfinite(rules.lower) || std::isfinite(rules.upper);
  const double first = is_part ? weights.front() : 0.0;
  double total = is_part ? weights.back() - first : left_weight;
  for (index_t i = node.size - rules.cut.min_samples_leaf; i < node.size && !is_part; ++i)
    total += data.weight_of(node.rows[position(order[i])]);
  std::vector<index_t> cuts;
  for (index_t q = 1; q <= rules.max_thresholds; ++q) {
    const double target = first + total * static_cast<double>(q) / (rules.max_thresholds + 1.0);
    auto at = std::lower_bound(weights.begin(), weights.end(), target);
    if (at == weights.end() || (at != weights.begin() && target - *(at - 1) <= *at - target)) --at;
    const index_t size = sizes[at - weights.begin()];
    if (cuts.empty() || cuts.back() < size) cuts.push_back(size);
  }
  return cuts;
}

double cut_between(const double* scores, const std::uint64_t* order, index_t n_left) {
  return midpoint(scores[position(order[n_left - 1])], scores[position(order[n_left])]);
}

std::vector<double> quantile_thresholds(const TrainingData& data, const NodeRows& rows,
                                        const double* scores, const ModelCutRules& rules) {
  std::vector<std::uint64_t> items(rows.size), spare(rows.size);
  const std::uint64_t* order = argsort(scores, rows.size, {items.data(), spare.data()});
  std::vector<double> thresholds;
  for (const index_t size : quantile_cuts(data, rows, scores, order, rules))
    thresholds.push_back(cut_between(scores, order, size));
  return thresholds;
}

TriedCuts cuts_to_try(const TrainingData& data, const NodeRows& node, const double* scores,
                      const ModelCutRules& rules) {
  if (node.size > kMostSortedRows) return cuts_at_sample_quantiles(data, node, scores, rules);
  const std::unique_ptr<std::uint64_t[]> scratch(new std::uint64_t[2 * node.size]);  // not set to 0
  const std::uint64_t* order = argsort(scores, node.size, {scratch.get(), scratch.get() + node.size});
  TriedCuts cuts;
  cuts.sizes = quantile_cuts(data, node, scores, order, rules);
  for (const index_t size : cuts.sizes) cuts.thresholds.push_back(cut_between(scores, order, size));
  if (!cuts.sizes.empty()) cuts.rows.resize(cuts.sizes.back());
  for (std::size_t i = 0; i < cuts.rows.size(); ++i) cuts.rows[i] = node.rows[position(order[i])];
  return cuts;
}

void add_products(const TrainingData& data, const NodeRows& rows, const ChildModels& models,
                  RowMatrix& products) {
  const std::unique_ptr<double[]> tile(new double[2 * kTileRows * products.cols()]);  // not set to 0
  ridge::add_products({data.x, data.y, data.weight, rows.rows, rows.size, data.n_features,
                       data.n_outputs},
                      models.origin.data(), tile.get(), products.data());
}

Cut best_model_cut(const TriedCuts& cuts, const ChildModels& models, const RowMatrix& products,
                   double node_loss,
                   const std::function<void(index_t, RowMatrix&)>& add_between) {
  ModelCutChoice choice(models, products, node_loss);
  RowMatrix left = RowMatrix::Zero(products.rows(), products.cols());
  for (index_t i = 0; i < cuts.n(); ++i) {
    add_between(i, left);
    choice.consider(left, cuts.sizes[i], cuts.thresholds[i]);
  }
  return choice.best();
}

}  // namespace fctree::oblique
