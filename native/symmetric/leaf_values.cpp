#include "symmetric/leaf_values.hpp"

#include <algorithm>

#include "core/loss/order_statistics.hpp"

namespace fctree::symmetric {

namespace {

bool is_in(const LeafAssignment& leaves, index_t i) {
  return leaves.in_bag == nullptr || leaves.in_bag[i] != 0;
}

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

LeafValues newton_values(const Loss& loss, const ScoredSamples& s, const Derivatives& d,
                         const LeafAssignment& leaves, double l2_leaf_reg, const Tiles& tiles,
                         const Execution& execution) {
  const index_t n_outputs = s.n_outputs;
  std::vector<int> largest(tiles.count() * n_outputs * 2);
  parallel_for(execution, tiles.count(), [&](index_t tile) {
    const index_t begin = tiles.begin(tile), end = tiles.end(tile);
    for (index_t k = 0; k < n_outputs; ++k) {
      const index_t first = k * s.n_samples;
      int* found = largest.data() + (tile * n_outputs + k) * 2;
      found[0] = largest_exponent(d.gradient + first, s.weight, begin, end);
      found[1] = largest_exponent(d.hessian == nullptr ? nullptr : d.hessian + first, s.weight,
                                  begin, end);
    }
  });
  LeafSumScales scales;
  for (index_t k = 0; k < n_outputs; ++k) {
    int both[2] = {0, 0};
    for (index_t tile = 0; tile < tiles.count(); ++tile)
      for (int j = 0; j < 2; ++j)
        both[j] = std::max(both[j], largest[(tile * n_outputs + k) * 2 + j]);
    scales.gradient.emplace_back(both[0], s.n_samples);
    scales.hessian.emplace_back(both[1], s.n_samples);
  }
  const LeafSums sums = sum_leaves(s, d, leaves, scales, tiles, execution);
  return newton_leaf_values(loss, sums, scales, l2_leaf_reg);
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

int largest_exponent(const double* value, const double* weight, index_t begin, index_t end) {
  if (value == nullptr && weight == nullptr) return ExponentCounts::exponent_of(1.0);
  int largest = 0;
  for (index_t i = begin; i < end; ++i) {
    const double w = weight == nullptr ? 1.0 : weight[i];
    const int e = ExponentCounts::exponent_of(value == nullptr ? w : w * value[i]);
    largest = e > largest ? e : largest;
  }
  return largest;
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
  return sums;
}

LeafValues newton_leaf_values(const Loss& loss, const LeafSums& sums, const LeafSumScales& scales,
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

LeafValues compute_leaf_values(const Loss& loss, const ScoredSamples& samples,
                               const Derivatives& derivatives, const LeafAssignment& leaves,
                               double l2_leaf_reg, const Tiles& tiles,
                               const Execution& execution) {
  if (loss.leaf_rule() == LeafRule::newton)
    return newton_values(loss, samples, derivatives, leaves, l2_leaf_reg, tiles, execution);
  return order_values(loss, samples, leaves, execution);
}

}  // namespace fctree::symmetric
