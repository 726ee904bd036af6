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

// Adds the rows of one tile and output; sums are kLeafSumWords * stride apart from leaf to leaf.
// Words first, a block of rows at once, which needs no leaf and so goes by vectors.
void add_tile(const ScoredSamples& s, const double* gradient, const double* hessian,
              const LeafAssignment& leaves, const FixedPoint& gradients, const FixedPoint& hessians,
              index_t begin, index_t end, index_t stride, std::int64_t* sums) {
  const TwoWords one = hessians.words(1.0);
  const bool plain = s.weight == nullptr && hessian == nullptr;
  std::int64_t g_high[kRowsAtOnce], g_low[kRowsAtOnce], h_high[kRowsAtOnce], h_low[kRowsAtOnce];
  const auto find_words = [&](index_t first, index_t n, const FixedPoint& scale, const auto& term,
                              std::int64_t* high, std::int64_t* low) {
    for (index_t i = 0; i < n; ++i) {
      const TwoWords words = scale.words(term(first + i));
      high[i] = words.high;
      low[i] = words.low;
    }
  };
  for (index_t first = begin; first < end; first += kRowsAtOnce) {
    const index_t n = std::min(kRowsAtOnce, end - first);
    const double* w = s.weight;
    if (w == nullptr)
      find_words(first, n, gradients, [=](index_t i) { return gradient[i]; }, g_high, g_low);
    else
      find_words(first, n, gradients, [=](index_t i) { return w[i] * gradient[i]; }, g_high, g_low);
    if (!plain)
      find_words(first, n, hessians,
                 [=](index_t i) {
                   return hessian == nullptr ? w[i] : (w == nullptr ? 1.0 : w[i]) * hessian[i];
                 },
                 h_high, h_low);
    for (index_t i = 0; i < n; ++i) {
      if (!is_in(leaves, first + i)) continue;
      std::int64_t* sum = sums + leaves.leaf[first + i] * stride;
      sum[0] += g_high[i];
      sum[1] += g_low[i];
      sum[2] += plain ? one.high : h_high[i];
      sum[3] += plain ? one.low : h_low[i];
    }
  }
}

LeafSums sum_leaves(const ScoredSamples& s, const Derivatives& d, const LeafAssignment& leaves,
                    const LeafSumScales& scales, const Tiles& tiles, const Execution& execution) {
  const index_t stride = kLeafSumWords * s.n_outputs;
  std::vector<LeafSums> parts(tiles.count());
  parallel_for(execution, tiles.count(), [&](index_t tile) {
    parts[tile].assign(leaves.n_leaves * stride, 0);
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const index_t first = k * s.n_samples;
      add_tile(s, d.gradient + first, d.hessian == nullptr ? nullptr : d.hessian + first, leaves,
               scales.gradient[k], scales.hessian[k], tiles.begin(tile), tiles.end(tile), stride,
               parts[tile].data() + k * kLeafSumWords);
    }
  });
  LeafSums sums(leaves.n_leaves * stride, 0);
  for (const LeafSums& part : parts)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
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

LeafValues newton_values(const Loss& loss, const ScoredSamples& s, const Derivatives& d,
                         const DerivativeScale& scale, const LeafAssignment& leaves,
                         double l2_leaf_reg, const Tiles& tiles, const Execution& execution) {
  LeafSumScales scales;
  for (index_t k = 0; k < s.n_outputs; ++k) {
    scales.gradient.emplace_back(scale.gradient[k].largest(), scale.n_samples);
    scales.hessian.emplace_back(scale.hessian[k], scale.n_samples);
  }
  const LeafSums sums = sum_leaves(s, d, leaves, scales, tiles, execution);
  return newton_steps(loss, sums, scales, l2_leaf_reg);
}

LeafValues order_values(const Loss& loss, const ScoredSamples& s, const LeafAssignment& leaves,
                        const Execution& execution) {
  std::vector<std::vector<index_t>> rows(leaves.n_leaves);
  for (index_t i = 0; i < s.n_samples; ++i)
    if (is_in(leaves, i)) rows[leaves.leaf[i]].push_back(i);
  LeafValues out;
  out.value.assign(leaves.n_leaves * s.n_outputs, 0.0);
  out.weight.assign(leaves.n_leaves * s.n_outputs, 0.0);
  parallel_for(execution, leaves.n_leaves, [&](index_t leaf) {
    if (rows[leaf].empty()) return;
    for (index_t k = 0; k < s.n_outputs; ++k) {
      std::vector<double> residual, weight;
      const index_t at = leaf * s.n_outputs + k, first = k * s.n_samples;
      for (const index_t i : rows[leaf]) {
        residual.push_back(s.y[first + i] - s.raw[first + i]);
        if (s.weight != nullptr) weight.push_back(s.weight[i]);
        out.weight[at] += s.weight_of(i);
      }
      out.value[at] = order_statistic(loss, residual.data(), weight.empty() ? nullptr : weight.data(),
                                      static_cast<index_t>(rows[leaf].size()));
    }
  });
  return out;
}

}  // namespace

LeafValues compute_leaf_values(const Loss& loss, const ScoredSamples& samples,
                               const Derivatives& derivatives, const DerivativeScale& scale,
                               const LeafAssignment& leaves, double l2_leaf_reg,
                               const Tiles& tiles, const Execution& execution) {
  if (loss.leaf_rule() == LeafRule::newton)
    return newton_values(loss, samples, derivatives, scale, leaves, l2_leaf_reg, tiles, execution);
  return order_values(loss, samples, leaves, execution);
}

}  // namespace fctree::symmetric
