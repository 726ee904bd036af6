#include "ensembles/leaf_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/exact_sum.hpp"
#include "core/loss/order_statistics.hpp"
#include "ridge/dense.hpp"

namespace fctree::ensembles {

using namespace ridge;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A score of hardly any curvature would else take the largest step at once.
constexpr double kMostLengthening = 2.0;

// score[k] of a row in the leaf with this index.
void score_row(const ObliqueTreeArrays& tree, index_t slot, const double* x, double* score) {
  const index_t n_outputs = tree.n_outputs;
  if (tree.leaf_coef.empty()) {
    std::copy_n(tree.leaf_intercept.data() + slot * n_outputs, n_outputs, score);
    return;
  }
  const std::int64_t at = slot;
  dense_kernels().evaluate_leaves(
      {tree.leaf_coef.data(), tree.leaf_intercept.data(), tree.n_features, n_outputs}, &at,
      {x, 1, tree.n_features, nullptr}, score);
}

// The least and the largest scores of a tree's leaves over these samples.
LeafBounds score_ranges(const ObliqueTreeArrays& tree, const double* x, const double* weight,
                        const std::vector<index_t>& leaf) {
  const std::size_t size = tree.leaf_intercept.size();
  LeafBounds ranges = {std::vector<double>(size, kInfinity), std::vector<double>(size, -kInfinity)};
  const index_t n_outputs = tree.n_outputs;
  std::vector<double> score(n_outputs);
  for (std::size_t i = 0; i < leaf.size(); ++i) {
    if (i % 1024 == 0) check_interrupt();
    if (weight != nullptr && !(weight[i] > 0.0)) continue;
    const index_t slot = tree.leaf_index[leaf[i]];
    score_row(tree, slot, x + i * tree.n_features, score.data());
    for (index_t k = 0; k < n_outputs; ++k) {
      const index_t at = slot * n_outputs + k;
      ranges.lower[at] = std::min(ranges.lower[at], score[k]);
      ranges.upper[at] = std::max(ranges.upper[at], score[k]);
    }
  }
  return ranges;
}

}  // namespace

LeafBounds bound_leaves(const ObliqueTreeArrays& tree, const double* x, const double* weight,
                        const std::vector<index_t>& leaf, const BoundRules& rules,
                        const Collective* all) {
  LeafBounds bounds = score_ranges(tree, x, weight, leaf);
  const index_t size = static_cast<index_t>(bounds.lower.size());
  for (double& lower : bounds.lower) lower = -lower;
  bounds.upper.insert(bounds.upper.end(), bounds.lower.begin(), bounds.lower.end());
  take_largest(all, bounds.upper.data(), 2 * size);
  for (index_t at = 0; at < size; ++at) bounds.lower[at] = -bounds.upper[size + at];
  bounds.upper.resize(size);
  for (std::size_t at = 0; at < bounds.lower.size(); ++at) {
    const double range = bounds.upper[at] - bounds.lower[at];
    // Without a bound, or in a leaf that no sample reaches because of rounding.
    const bool free = std::isinf(rules.extrapolation) || !(range >= 0.0);
    const double lower = free ? -kInfinity : bounds.lower[at] - rules.extrapolation * range;
    const double upper = free ? kInfinity : bounds.upper[at] + rules.extrapolation * range;
    bounds.lower[at] = std::max(lower, -rules.largest_step);
    bounds.upper[at] = std::min(upper, rules.largest_step);
  }
  return bounds;
}

void shrink_leaves(double l2_leaf_reg, ObliqueTreeArrays& tree) {
  for (index_t node = 0; node < tree.n_nodes(); ++node) {
    const index_t slot = tree.leaf_index[node];
    if (slot < 0) continue;
    const double share = l2_leaf_reg / (tree.weighted_n_node_samples[node] + l2_leaf_reg);
    for (index_t k = 0; k < tree.n_outputs; ++k)
      tree.leaf_intercept[slot * tree.n_outputs + k] -=
          share * tree.value[node * tree.n_outputs + k];
  }
}

void lengthen_steps(const StepCurvatures& curvatures, double l2_leaf_reg,
                    const std::vector<index_t>& leaf, const Collective* all,
                    ObliqueTreeArrays& tree) {
  const ScoredSamples& s = curvatures.samples;
  const index_t n_outputs = tree.n_outputs;
  if (n_outputs == 1) return;
  const auto own = [&](index_t i, index_t k) {
    return curvatures.weight[i] > 0.0 ? s.weight_of(i) * curvatures.hessian[k * s.n_samples + i]
                                      : 0.0;
  };
  ExponentCounts counts;
  for (index_t k = 0; k < n_outputs; ++k)
    counts.add(0, s.n_samples, [&](index_t i) { return own(i, k); });
  const FixedPoint fixed(static_cast<int>(take_largest(all, counts.largest())),
                         add_up(all, s.n_samples));
  std::vector<std::int64_t> sums(2 * tree.n_leaves() * n_outputs, 0);
  for (index_t i = 0; i < s.n_samples; ++i) {
    if (i % 1024 == 0) check_interrupt();
    if (!(curvatures.weight[i] > 0.0)) continue;
    std::int64_t* sum = sums.data() + 2 * tree.leaf_index[leaf[i]] * n_outputs;
    for (index_t k = 0; k < n_outputs; ++k) {
      const TwoWords words = fixed.words(own(i, k));
      sum[2 * k] += words.high;
      sum[2 * k + 1] += words.low;
    }
  }
  add_up(all, sums.data(), static_cast<index_t>(sums.size()));
  for (index_t node = 0; node < tree.n_nodes(); ++node) {
    const index_t slot = tree.leaf_index[node];
    if (slot < 0) continue;
    const double largest = tree.weighted_n_node_samples[node] + l2_leaf_reg;
    for (index_t at = slot * n_outputs; at < (slot + 1) * n_outputs; ++at) {
      const double curvature = fixed.value({sums[2 * at], sums[2 * at + 1]}) + l2_leaf_reg;
      const double factor = std::min(largest / curvature, kMostLengthening);
      tree.leaf_intercept[at] *= factor;
      if (tree.leaf_coef.empty()) continue;
      for (index_t j = 0; j < tree.n_features; ++j)
        tree.leaf_coef[at * tree.n_features + j] *= factor;
    }
  }
}

void revise_constants(const Loss& loss, const ScoredSamples& s, const double* x,
                      const double* fit_weight, const std::vector<index_t>& leaf,
                      ObliqueTreeArrays& tree) {
  if (loss.leaf_rule() == LeafRule::newton) return;
  const index_t n_outputs = tree.n_outputs;
  std::vector<std::vector<index_t>> rows(tree.n_leaves());
  for (index_t i = 0; i < s.n_samples; ++i)
    if (fit_weight[i] > 0.0) rows[tree.leaf_index[leaf[i]]].push_back(i);
  std::vector<double> score(n_outputs);
  for (index_t slot = 0; slot < tree.n_leaves(); ++slot) {
    const index_t size = static_cast<index_t>(rows[slot].size());
    if (size == 0) continue;
    std::vector<double> rest(size * n_outputs), weight;
    for (index_t at = 0; at < size; ++at) {
      const index_t i = rows[slot][at];
      score_row(tree, slot, x + i * tree.n_features, score.data());
      for (index_t k = 0; k < n_outputs; ++k)
        rest[k * size + at] = s.y[k * s.n_samples + i] - s.raw[k * s.n_samples + i] - score[k];
      if (s.weight != nullptr) weight.push_back(s.weight[i]);
    }
    for (index_t k = 0; k < n_outputs; ++k) {
      std::vector<double> own = weight;  // reordered with the residuals
      tree.leaf_intercept[slot * n_outputs + k] += order_statistic(
          loss, rest.data() + k * size, own.empty() ? nullptr : own.data(), size);
    }
  }
}

}  // namespace fctree::ensembles
