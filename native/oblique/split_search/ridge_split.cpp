#include "oblique/split_search/ridge_split.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/argsort.hpp"
#include "ridge/row_blocks.hpp"

namespace fctree::oblique {

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
  const auto score = [&](index_t i) { return scores[position(order[i])]; };
  const double gap = least_gap(rules.cut, score(0), score(node.size - 1));
  const auto count_scores = [&](const auto& are_first) {
    index_t low = 0, high = node.size;
    while (low < high) {
      const index_t middle = (low + high) / 2;
      if (are_first(score(middle)))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  // Cuts are after rows begin .. end - 1.
  const index_t least = rules.cut.min_samples_leaf;
  const index_t begin =
      std::max(least, count_scores([&](double own) { return own <= rules.lower; })) - 1;
  const index_t end =
      std::min(node.size - least, count_scores([&](double own) { return own < rules.upper; }));
  const auto is_cut = [&](index_t i) { return score(i + 1) - score(i) > gap; };
  std::vector<index_t> cuts;
  for (index_t i = begin; i < end && static_cast<index_t>(cuts.size()) <= rules.max_thresholds; ++i)
    if (is_cut(i)) cuts.push_back(i + 1);
  if (static_cast<index_t>(cuts.size()) <= rules.max_thresholds) return cuts;

  std::vector<double> weights(node.size);  // of the rows up to each
  double total = 0.0, first = 0.0;
  for (index_t i = 0; i < node.size; ++i)
    weights[i] = total += data.weight_of(node.rows[position(order[i])]);
  if (std::isfinite(rules.lower) || std::isfinite(rules.upper)) {
    index_t last = end - 1;
    while (!is_cut(last)) --last;
    first = weights[cuts[0] - 1];
    total = weights[last] - first;
  }
  cuts.clear();
  index_t before = begin - 1, after = begin - 1;  // the cuts next to a target
  for (index_t q = 1; q <= rules.max_thresholds; ++q) {
    const double target = first + total * static_cast<double>(q) / (rules.max_thresholds + 1.0);
    const index_t at =
        std::lower_bound(weights.begin() + begin, weights.begin() + end, target) - weights.begin();
    if (at > after) {
      for (before = at - 1; before >= begin && !is_cut(before);) --before;
      for (after = at; after < end && !is_cut(after);) ++after;
    }
    const bool is_before = after == end || (before >= begin && target - weights[before] <= weights[after] - target);
    const index_t size = (is_before ? before : after) + 1;
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
  ridge::add_products(select(data, rows, data.weight), models.origin.data(), tile.get(), products.data());
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
