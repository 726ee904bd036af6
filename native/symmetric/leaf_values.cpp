#include "symmetric/leaf_values.hpp"

#include <algorithm>

#include "core/loss/order_statistics.hpp"

namespace fctree::symmetric {

namespace {

bool is_in(const LeafAssignment& leaves, index_t i) {
  return leaves.in_bag == nullptr || leaves.in_bag[i] != 0;
}

// Sums of w g and w h over the sampled rows of each leaf as fixed-point words:
// [leaf][output][g, h][high, low].
using LeafSums = std::vector<std::int64_t>;
constexpr index_t kLeafSumWords = 4;

// The fixed-point numbers of w g and w h, one for each output.
struct LeafSumScales {
  std::vector<FixedPoint> gradient;
  std::vector<FixedPoint> hessian;
};

constexpr index_t kRowsAtOnce = 512;
constexpr index_t kWordsAtOnce = 64;  // of parts that are added up

// The terms that are summed for one output.
struct OutputTerms {
  const double* gradient;
  const double* hessian;  // null: all 1
  const double* weight;   // null: all 1
  const FixedPoint& gradients;
  const FixedPoint& hessians;
};

struct BlockOfWords {
  std::int64_t high[kRowsAtOnce], low[kRowsAtOnce];

  // The words of term(0) .. term(n - 1).
  template <class Term>
  void find(index_t n, const FixedPoint& scale, const Term& term) {
    for (index_t i = 0; i < n; ++i) {
      const TwoWords words = scale.words(term(i));
      high[i] = words.high;
      low[i] = words.low;
    }
  }
};

// Adds rows begin .. end; sums are `stride` apart from leaf to leaf. Words first, a block of rows at
// once, which needs no leaf and so goes by vectors.
void add_tile(const OutputTerms& terms, const LeafAssignment& leaves, index_t begin, index_t end,
              index_t stride, std::int64_t* sums) {
  BlockOfWords gradients, hessians;
  if (terms.weight == nullptr && terms.hessian == nullptr)
    hessians.find(kRowsAtOnce, terms.hessians, [](index_t) { return 1.0; });
  for (index_t first = begin; first < end; first += kRowsAtOnce) {
    const index_t n = std::min(kRowsAtOnce, end - first);
    const double* g = terms.gradient + first;
    const double* h = terms.hessian == nullptr ? nullptr : terms.hessian + first;
    const double* w = terms.weight == nullptr ? nullptr : terms.weight + first;
    if (w == nullptr)
      gradients.find(n, terms.gradients, [=](index_t i) { return g[i]; });
    else
      gradients.find(n, terms.gradients, [=](index_t i) { return w[i] * g[i]; });
    if (w != nullptr && h != nullptr)
      hessians.find(n, terms.hessians, [=](index_t i) { return w[i] * h[i]; });
    else if (w != nullptr || h != nullptr)
      hessians.find(n, terms.hessians, [=, only = w != nullptr ? w : h](index_t i) { return only[i]; });
    for (index_t i = 0; i < n; ++i) {
      if (!is_in(leaves, first + i)) continue;
      std::int64_t* sum = sums + leaves.leaf[first + i] * stride;
      sum[0] += gradients.high[i];
      sum[1] += gradients.low[i];
      sum[2] += hessians.high[i];
      sum[3] += hessians.low[i];
    }
  }
}

LeafSums sum_leaves(const ScaledDerivatives& derivatives, const LeafAssignment& leaves,
                    const LeafSumScales& scales, const Tiles& tiles, const Execution& execution) {
  const ScoredSamples& s = derivatives.samples;
  const Derivatives& d = derivatives.values;
  const index_t stride = kLeafSumWords * s.n_outputs;
  std::vector<LeafSums> parts(tiles.count());
  const auto sum_tile = [&](index_t tile) {
    leaves.find(tiles.begin(tile), tiles.end(tile));
    parts[tile].assign(leaves.n_leaves * stride, 0);
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const index_t first = k * s.n_samples;
      const OutputTerms terms = {d.gradient + first, d.hessian == nullptr ? nullptr : d.hessian + first,
                                 s.weight, scales.gradient[k], scales.hessian[k]};
      add_tile(terms, leaves, tiles.begin(tile), tiles.end(tile), stride,
               parts[tile].data() + k * kLeafSumWords);
    }
  };
  const index_t n_words = leaves.n_leaves * stride;
  LeafSums sums(n_words, 0);
  const auto add_parts = [&](index_t piece) {
    const index_t begin = piece * kWordsAtOnce, end = std::min(n_words, begin + kWordsAtOnce);
    for (const LeafSums& part : parts)
      for (index_t i = begin; i < end; ++i) sums[i] += part[i];
  };
  parallel_phases(execution, {{tiles.count(), sum_tile}, {count_parts(n_words, kWordsAtOnce), add_parts}});
  add_up(execution.all, sums.data(), static_cast<index_t>(sums.size()));
  return sums;
}

// The Newton steps that these sums give.
LeafValues newton_steps(const Loss& loss, const LeafSums& sums, const LeafSumScales& scales,
                        double l2_leaf_reg) {
  const std::size_t n_outputs = scales.gradient.size();
  LeafValues out;
  for (std::size_t at = 0; at * kLeafSumWords < sums.size(); ++at) {
    const std::int64_t* words = sums.data() + at * kLeafSumWords;
    const double g = scales.gradient[at % n_outputs].value({words[0], words[1]});
    const double h = scales.hessian[at % n_outputs].value({words[2], words[3]});
    const bool has_step = h + l2_leaf_reg > 0.0;
    const double descent = 0.0 - g;  // not -0 where there is no gradient
    out.value.push_back(has_step ? loss.limited(descent / (h + l2_leaf_reg), g, h) : 0.0);
    out.weight.push_back(h);
  }
  return out;
}

LeafValues newton_values(const Loss& loss, const ScaledDerivatives& derivatives,
                         const LeafAssignment& leaves, double l2_leaf_reg, const Tiles& tiles,
                         const Execution& execution) {
  const DerivativeScale& scale = derivatives.scale;
  LeafSumScales scales;
  for (index_t k = 0; k < derivatives.samples.n_outputs; ++k) {
    scales.gradient.emplace_back(scale.gradient[k].largest(), scale.n_samples);
    scales.hessian.emplace_back(scale.hessian[k], scale.n_samples);
  }
  const LeafSums sums = sum_leaves(derivatives, leaves, scales, tiles, execution);
  return newton_steps(loss, sums, scales, l2_leaf_reg);
}

// The rows of a leaf, with those of its siblings, of their parents' siblings and so on until they weigh enough.
std::vector<index_t> enough_rows(const ScoredSamples& s, const std::vector<std::vector<index_t>>& rows,
                                 index_t leaf, double least_weight) {
  std::vector<index_t> joined;
  const index_t n_leaves = static_cast<index_t>(rows.size());
  for (index_t size = 1; size <= n_leaves; size *= 2) {
    const index_t first = leaf / size * size;
    joined.clear();
    for (index_t one = first; one < first + size; ++one)
      joined.insert(joined.end(), rows[one].begin(), rows[one].end());
    double weight = 0.0;
    for (const index_t i : joined) weight += s.weight_of(i);
    if (weight >= least_weight) break;
  }
  return joined;
}

LeafValues order_values(const Loss& loss, const ScoredSamples& s, const LeafAssignment& leaves,
                        const Tiles& tiles, const Execution& execution) {
  parallel_for(execution, tiles.count(),
               [&](index_t tile) { leaves.find(tiles.begin(tile), tiles.end(tile)); });
  std::vector<std::vector<index_t>> rows(leaves.n_leaves);
  for (index_t i = 0; i < s.n_samples; ++i)
    if (is_in(leaves, i)) rows[leaves.leaf[i]].push_back(i);
  LeafValues out;
  out.value.assign(leaves.n_leaves * s.n_outputs, 0.0);
  out.weight.assign(leaves.n_leaves * s.n_outputs, 0.0);
  parallel_for(execution, leaves.n_leaves, [&](index_t leaf) {
    if (rows[leaf].empty()) return;
    const std::vector<index_t> joined = enough_rows(s, rows, leaf, loss.least_weight());
    const auto n = static_cast<index_t>(joined.size());
    std::vector<double> residual(n), weight(s.weight == nullptr ? 0 : n);
    for (std::size_t j = 0; j < weight.size(); ++j) weight[j] = s.weight[joined[j]];
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const index_t at = leaf * s.n_outputs + k, first = k * s.n_samples;
      for (const index_t i : rows[leaf]) out.weight[at] += s.weight_of(i);
      for (index_t j = 0; j < n; ++j)
        residual[j] = (s.y[first + joined[j]] - s.raw[first + joined[j]]) / s.unit_of(k);
      out.value[at] = order_statistic(loss, residual.data(), weight.empty() ? nullptr : weight.data(), n);
    }
  });
  return out;
}

}  // namespace

LeafValues compute_leaf_values(const Loss& loss, const ScaledDerivatives& derivatives,
                               const LeafAssignment& leaves, double l2_leaf_reg,
                               const Tiles& tiles, const Execution& execution) {
  if (loss.leaf_rule() == LeafRule::newton)
    return newton_values(loss, derivatives, leaves, l2_leaf_reg, tiles, execution);
  return order_values(loss, derivatives.samples, leaves, tiles, execution);
}

}  // namespace fctree::symmetric
