#include "core/loss/order_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace fctree {

namespace {

// Of a share of the weights: sums that differ by no more are equal, so that equal weights are as good as none.
constexpr double kRounding = 1e-12;

// `weights` is null for equal ones. May reorder the values.
double weighted_quantile(double* values, const double* weights, index_t n, double q) {
  if (weights == nullptr) {
    const double position = q * static_cast<double>(n), slack = kRounding * static_cast<double>(n);
    const index_t at =
        std::clamp<index_t>(static_cast<index_t>(std::ceil(position - slack)) - 1, 0, n - 1);
    std::nth_element(values, values + at, values + n);
    const double value = values[at];
    if (position < static_cast<double>(at + 1) - slack || at + 1 == n) return value;
    return 0.5 * (value + *std::min_element(values + at + 1, values + n));
  }
  std::vector<index_t> order;
  for (index_t i = 0; i < n; ++i)
    if (weights[i] > 0.0) order.push_back(i);
  if (order.empty()) return 0.0;
  std::sort(order.begin(), order.end(),
            [&](index_t a, index_t b) { return values[a] < values[b]; });
  double total = 0.0, sum = 0.0;
  for (const index_t i : order) total += weights[i];
  const double wanted = q * total, slack = kRounding * total;
  for (std::size_t at = 0; at < order.size(); ++at) {
    sum += weights[order[at]];
    if (sum < wanted - slack) continue;
    const double value = values[order[at]];
    if (sum > wanted + slack || at + 1 == order.size()) return value;
    return 0.5 * (value + values[order[at + 1]]);
  }
  return values[order.back()];
}

}  // namespace

double quantile_of(const ScoredSamples& s, std::vector<double> values, double q) {
  return weighted_quantile(values.data(), s.weight, s.n_samples, q);
}

void target_quantiles(const ScoredSamples& s, double q, double* out) {
  for (index_t k = 0; k < s.n_outputs; ++k) {
    const double* y = s.y + k * s.n_samples;
    out[k] = quantile_of(s, {y, y + s.n_samples}, q);
  }
}

double residual_scale(const ScoredSamples& s, index_t output) {
  constexpr double kQuartile = 0.75, kLeastOfMean = 0.01;
  const double *y = s.y + output * s.n_samples, *raw = s.raw + output * s.n_samples;
  std::vector<double> sizes(s.n_samples);
  double sum = 0.0, weight = 0.0;
  for (index_t i = 0; i < s.n_samples; ++i) {
    sizes[i] = std::abs(y[i] - raw[i]) / s.unit_of(output);
    sum += s.weight_of(i) * sizes[i];
    weight += s.weight_of(i);
  }
  const double least = kLeastOfMean * sum / weight;
  return std::max(quantile_of(s, std::move(sizes), kQuartile), least);
}

namespace {

double clipped_mean(double* residuals, const double* weights, index_t n, double bound) {
  const std::vector<double> kept(residuals, residuals + n);
  const double median = weighted_quantile(residuals, weights, n, 0.5);
  double sum = 0.0, total = 0.0;
  for (index_t i = 0; i < n; ++i) {
    const double w = weights == nullptr ? 1.0 : weights[i];
    sum += w * std::clamp(kept[i] - median, -bound, bound);
    total += w;
  }
  return total > 0.0 ? median + sum / total : 0.0;
}

}  // namespace

double order_statistic(const Loss& loss, double* residuals, const double* weights, index_t n) {
  if (loss.leaf_rule() == LeafRule::clipped_mean)
    return clipped_mean(residuals, weights, n, loss.residual_bound());
  return weighted_quantile(residuals, weights, n, loss.quantile_order());
}

}  // namespace fctree
