#include "ensembles/leaf_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/buffer.hpp"
#include "core/collective.hpp"
#include "core/exact_sum.hpp"
#include "core/loss/order_statistics.hpp"
#include "ridge/dense.hpp"
#include "ridge/row_blocks.hpp"

namespace fctree::ensembles {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A score of hardly any curvature would else take the largest step at once. Where so many pseudo-samples for each
// coefficient of a leaf's model count for little, it may go further.
constexpr double kMostLengthening = 2.0;
constexpr double kSamplesOfCoefficient = 20.0;

struct RowRange {
  index_t begin, end;
};

// Parts of which each has sums or ranges of all leaves: few.
index_t part_length(index_t n_samples) { return std::max<index_t>(1024, n_samples / 64 + 1); }

// score[k] of a row x, which constant leaves do not read, in the leaf with this index.
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

// Calls use(i, slot, score) for the rows begin .. end - 1 of positive weight.
template <class Use>
void for_each_score(const ObliqueTreeArrays& tree, const TrainingData& data, const Buffer<index_t>& leaf,
                    RowRange range, const Use& use) {
  constexpr index_t kReadRows = 256;
  std::vector<double> score(tree.n_outputs), buffer;
  for (index_t begin = range.begin; begin < range.end; begin += kReadRows) {
    const index_t size = std::min(kReadRows, range.end - begin);
    const double* x = tree.leaf_coef.empty() ? nullptr : read_block(data, begin, size, buffer);
    for (index_t i = begin; i < begin + size; ++i) {
      if (!(data.weight_of(i) > 0.0)) continue;
      const index_t slot = tree.leaf_index[leaf[i]];
      score_row(tree, slot, x == nullptr ? nullptr : x + (i - begin) * tree.n_features, score.data());
      use(i, slot, score.data());
    }
  }
}

// The least and the largest scores of a tree's leaves over these samples.
LeafBounds score_ranges(const ObliqueTreeArrays& tree, const TrainingData& data,
                        const Buffer<index_t>& leaf, const Execution& execution) {
  const std::size_t size = tree.leaf_intercept.size();
  const index_t n = data.n_samples, n_outputs = tree.n_outputs;
  const index_t length = part_length(n);
  LeafBounds ranges = {std::vector<double>(size, kInfinity), std::vector<double>(size, -kInfinity)};
  std::vector<LeafBounds> parts(count_parts(n, length), ranges);
  for_each_part(execution, n, length, [&](index_t part, index_t begin, index_t end) {
    for_each_score(tree, data, leaf, {begin, end}, [&](index_t, index_t slot, const double* score) {
      for (index_t k = 0; k < n_outputs; ++k) {
        double& lower = parts[part].lower[slot * n_outputs + k];
        double& upper = parts[part].upper[slot * n_outputs + k];
        lower = std::min(lower, score[k]);
        upper = std::max(upper, score[k]);
      }
    });
  });
  for (const LeafBounds& part : parts)
    for (std::size_t at = 0; at < size; ++at) {
      ranges.lower[at] = std::min(ranges.lower[at], part.lower[at]);
      ranges.upper[at] = std::max(ranges.upper[at], part.upper[at]);
    }
  return ranges;
}

// Rows in their leaves, of which those of positive weight count.
struct WeighedRows {
  const Buffer<index_t>& leaf;
  const double* weight;
  index_t size;
};

// Sums of value(row, output) over the rows of each leaf, (n_leaves, n_outputs): the same in any order of the rows.
template <class Value>
std::vector<double> sum_by_leaf(const ObliqueTreeArrays& tree, const WeighedRows& rows, const Value& value,
                                const Execution& execution) {
  const index_t n = rows.size, n_outputs = tree.n_outputs, length = part_length(n), n_parts = count_parts(n, length);
  std::vector<int> largest(n_parts + 1, 0);  // exponents; a place may have no sample
  for_each_part(execution, n, length, [&](index_t part, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i)
      if (rows.weight[i] > 0.0)
        for (index_t k = 0; k < n_outputs; ++k)
          largest[part] = std::max(largest[part], ExponentCounts::exponent_of(value(i, k)));
  });
  const int exponent = *std::max_element(largest.begin(), largest.end());
  const FixedPoint fixed(static_cast<int>(take_largest(execution.all, exponent)), add_up(execution.all, n));
  const index_t size = 2 * tree.n_leaves() * n_outputs;
  std::vector<std::vector<std::int64_t>> parts(n_parts);
  for_each_part(execution, n, length, [&](index_t part, index_t begin, index_t end) {
    parts[part].resize(size);
    for (index_t i = begin; i < end; ++i) {
      if (!(rows.weight[i] > 0.0)) continue;
      std::int64_t* sum = parts[part].data() + 2 * tree.leaf_index[rows.leaf[i]] * n_outputs;
      for (index_t k = 0; k < n_outputs; ++k) {
        const TwoWords words = fixed.words(value(i, k));
        sum[2 * k] += words.high;
        sum[2 * k + 1] += words.low;
      }
    }
  });
  std::vector<std::int64_t> words(size, 0);
  for (const std::vector<std::int64_t>& part : parts)
    for (index_t at = 0; at < size; ++at) words[at] += part[at];
  add_up(execution.all, words.data(), size);
  std::vector<double> sums(size / 2);
  for (index_t at = 0; at < size / 2; ++at) sums[at] = fixed.value({words[2 * at], words[2 * at + 1]});
  return sums;
}

// Of a leaf's mean, which as many pseudo-samples of target 0 take away.
double share_of_zeros(double l2_leaf_reg, const ObliqueTreeArrays& tree, index_t node) {
  return l2_leaf_reg / (tree.weighted_n_node_samples[node] + l2_leaf_reg);
}

}  // namespace

LeafBounds bound_leaves(const ObliqueTreeArrays& tree, const TrainingData& data,
                        const Buffer<index_t>& leaf, const BoundRules& rules,
                        const Execution& execution) {
  LeafBounds bounds = score_ranges(tree, data, leaf, execution);
  const index_t size = static_cast<index_t>(bounds.lower.size());
  for (double& lower : bounds.lower) lower = -lower;
  bounds.upper.insert(bounds.upper.end(), bounds.lower.begin(), bounds.lower.end());
  take_largest(execution.all, bounds.upper.data(), 2 * size);
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
    const double share = share_of_zeros(l2_leaf_reg, tree, node);
    for (index_t k = 0; k < tree.n_outputs; ++k)
      tree.leaf_intercept[slot * tree.n_outputs + k] -=
          share * tree.value[node * tree.n_outputs + k];
  }
}

void lengthen_steps(const StepCurvatures& curvatures, double l2_leaf_reg,
                    const Buffer<index_t>& leaf, const Execution& execution,
                    ObliqueTreeArrays& tree) {
  const ScoredSamples& s = curvatures.samples;
  const index_t n_outputs = tree.n_outputs;
  if (n_outputs == 1) return;
  const index_t n_coefficients = 1 + (tree.leaf_coef.empty() ? 0 : tree.n_features);
  const double cautious = l2_leaf_reg + kSamplesOfCoefficient * static_cast<double>(n_coefficients);
  const std::vector<double> sums = sum_by_leaf(
      tree, {leaf, curvatures.weight, s.n_samples},
      [&](index_t i, index_t k) { return s.weight_of(i) * curvatures.hessian[k * s.n_samples + i]; }, execution);
  for (index_t node = 0; node < tree.n_nodes(); ++node) {
    const index_t slot = tree.leaf_index[node];
    if (slot < 0) continue;
    const double largest = tree.weighted_n_node_samples[node] + l2_leaf_reg;
    for (index_t at = slot * n_outputs; at < (slot + 1) * n_outputs; ++at) {
      const double factor = std::max(std::min(largest / (sums[at] + l2_leaf_reg), kMostLengthening),
                                     largest / (sums[at] + cautious));
      tree.leaf_intercept[at] *= factor;
      if (tree.leaf_coef.empty()) continue;
      for (index_t j = 0; j < tree.n_features; ++j)
        tree.leaf_coef[at * tree.n_features + j] *= factor;
    }
  }
}

void scale_outputs(const double* unit, ObliqueTreeArrays& tree, LeafBounds& bounds) {
  const auto scale = [&](std::vector<double>& values, index_t width) {
    for (std::size_t at = 0; at < values.size(); ++at)  // an infinite bound stays one, also of a step of 0
      if (!std::isinf(values[at])) values[at] *= unit[static_cast<index_t>(at) / width % tree.n_outputs];
  };
  for (std::vector<double>* values :
       {&tree.value, &tree.leaf_intercept, &bounds.lower, &bounds.upper})
    scale(*values, 1);
  scale(tree.leaf_coef, tree.n_features);
}

void revise_constants(const Loss& loss, const FittedRows& fitted, double l2_leaf_reg,
                      const Execution& execution, ObliqueTreeArrays& tree) {
  const ScoredSamples& s = fitted.samples;
  const index_t n_outputs = tree.n_outputs;
  Buffer<double> residual(s.n_samples * n_outputs);  // of its model
  for_each_part(execution, s.n_samples, part_length(s.n_samples), [&](index_t, index_t begin, index_t end) {
    for_each_score(tree, fitted.data, fitted.leaf, {begin, end}, [&](index_t i, index_t, const double* score) {
      for (index_t k = 0; k < n_outputs; ++k)
        residual[i * n_outputs + k] =
            (s.y[k * s.n_samples + i] - s.raw[k * s.n_samples + i]) / s.unit_of(k) - score[k];
    });
  });
  std::vector<std::vector<index_t>> rows(tree.n_nodes());
  for (index_t i = 0; i < s.n_samples; ++i)
    if (fitted.data.weight_of(i) > 0.0) rows[fitted.leaf[i]].push_back(i);
  for (index_t node = 0; node < tree.n_nodes(); ++node) {
    const index_t slot = tree.leaf_index[node], size = static_cast<index_t>(rows[node].size());
    if (size == 0) continue;
    std::vector<double> rest(size * n_outputs), weight;
    for (index_t at = 0; at < size; ++at) {
      const index_t i = rows[node][at];
      for (index_t k = 0; k < n_outputs; ++k) rest[k * size + at] = residual[i * n_outputs + k];
      if (s.weight != nullptr) weight.push_back(s.weight[i]);
    }
    const double share = share_of_zeros(l2_leaf_reg, tree, node);
    for (index_t k = 0; k < n_outputs; ++k) {
      const double value = order_statistic(loss, rest.data() + k * size,
                                           weight.empty() ? nullptr : weight.data(), size);
      const double shift = std::clamp(value, -fitted.farthest[k], fitted.farthest[k]);
      tree.leaf_intercept[slot * n_outputs + k] +=
          shift - share * (tree.value[node * n_outputs + k] + shift);
    }
  }
}

void subtract_scores(const ObliqueTreeArrays& tree, const TrainingData& data, const Buffer<index_t>& leaf,
                     const Execution& execution, double* target) {
  const index_t n = data.n_samples, n_outputs = tree.n_outputs;
  for_each_part(execution, n, part_length(n), [&](index_t, index_t begin, index_t end) {
    for_each_score(tree, data, leaf, {begin, end}, [&](index_t i, index_t, const double* score) {
      for (index_t k = 0; k < n_outputs; ++k) target[i * n_outputs + k] -= score[k];
    });
  });
}

void find_means(const TrainingData& data, const Buffer<index_t>& leaf, const Execution& execution,
                ObliqueTreeArrays& tree) {
  const index_t n_outputs = tree.n_outputs;
  const std::vector<double> sums = sum_by_leaf(
      tree, {leaf, data.weight, data.n_samples},
      [&](index_t i, index_t k) { return data.weight[i] * data.y[i * n_outputs + k]; }, execution);
  const auto value = [&](index_t node, index_t k) -> double& { return tree.value[node * n_outputs + k]; };
  for (index_t node = tree.n_nodes() - 1; node >= 0; --node) {  // children come after their parents
    const index_t slot = tree.leaf_index[node], left = tree.children_left[node], right = tree.children_right[node];
    for (index_t k = 0; k < n_outputs; ++k)
      value(node, k) = slot >= 0 ? sums[slot * n_outputs + k] : value(left, k) + value(right, k);
  }
  for (std::size_t at = 0; at < tree.value.size(); ++at) {
    const double weight = tree.weighted_n_node_samples[at / n_outputs];
    if (weight > 0.0) tree.value[at] /= weight;
  }
}

}  // namespace fctree::ensembles
