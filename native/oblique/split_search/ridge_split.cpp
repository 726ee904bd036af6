#include "oblique/split_search/ridge_split.hpp"

#include <algorithm>
#include <cmath>

#include "core/argsort.hpp"

namespace fctree::oblique {

namespace {

constexpr double kRounding = 1e-12;  // of sums of weights, as a share of all

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

std::vector<index_t> quantile_cuts(LazyOrder& order, const ModelCutRules& rules) {
  const index_t n = order.size(), least = rules.cut.min_samples_leaf;
  const double gap = least_gap(rules.cut, order.value(0), order.value(n - 1));
  const auto count_scores = [&](const auto& are_first) {
    index_t low = 0, high = n;
    while (low < high) {
      const index_t middle = (low + high) / 2;
      if (are_first(order.value(middle)))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  // Cuts are after ranks begin .. end - 1.
  const index_t begin = std::max(least, count_scores([&](double own) { return own <= rules.lower; })) - 1;
  const index_t end = std::min(n - least, count_scores([&](double own) { return own < rules.upper; }));
  const auto is_cut = [&](index_t i) { return order.value(i + 1) - order.value(i) > gap; };
  std::vector<index_t> cuts;
  for (index_t i = begin; i < end && static_cast<index_t>(cuts.size()) <= rules.max_thresholds; ++i) {
    i = order.last_alike(i);
    if (i < end && is_cut(i)) cuts.push_back(i + 1);
  }
  if (static_cast<index_t>(cuts.size()) <= rules.max_thresholds) return cuts;

  double total = order.weight_up_to(n - 1), first = 0.0;
  if (std::isfinite(rules.lower) || std::isfinite(rules.upper)) {
    index_t last = end - 1;
    while (!is_cut(last)) --last;
    first = order.weight_up_to(cuts[0] - 1);
    total = order.weight_up_to(last) - first;
  }
  cuts.clear();
  const double rounding = kRounding * order.weight_up_to(n - 1);
  index_t before = begin - 1, after = begin - 1;  // the cuts next to a target
  for (index_t q = 1; q <= rules.max_thresholds; ++q) {
    const double target = first + total * static_cast<double>(q) / (rules.max_thresholds + 1.0);
    const index_t at = std::clamp(order.rank_of_weight(target), begin, end);
    if (at > after) {
      for (before = at - 1; before >= begin && !is_cut(before);) --before;
      for (after = at; after < end && !is_cut(after);) ++after;
    }
    const bool is_before =
        after == end || (before >= begin && target - order.weight_up_to(before) <=
                                                order.weight_up_to(after) - target + rounding);
    const index_t size = (is_before ? before : after) + 1;
    if (cuts.empty() || cuts.back() < size) cuts.push_back(size);
  }
  return cuts;
}

double cut_between(LazyOrder& order, index_t n_left) {
  return midpoint(order.value(n_left - 1), order.value(n_left));
}

TriedCuts cuts_to_try(const TrainingData& data, const NodeRows& node, const double* scores,
                      const ModelCutRules& rules) {
  std::vector<double> weights(data.weight == nullptr ? 0 : node.size);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = data.weight[node.rows[i]];
  LazyOrder order(scores, weights.empty() ? nullptr : weights.data(), node.size);
  TriedCuts cuts;
  cuts.sizes = quantile_cuts(order, rules);
  for (const index_t size : cuts.sizes) cuts.thresholds.push_back(cut_between(order, size));
  if (!cuts.sizes.empty()) cuts.rows.resize(cuts.sizes.back());
  for (std::size_t i = 0; i < cuts.rows.size(); ++i) cuts.rows[i] = node.rows[order.positions()[i]];
  return cuts;
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
