#include "ensembles/working_response.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/loss/order_statistics.hpp"

namespace fctree::ensembles {

namespace {

constexpr index_t kTaskRows = 1024;

// Smallest curvature of a sample under a loss with a hessian: sums of curvatures are divisors.
constexpr double kLeastCurvature = 1e-16;

// Residuals below a share of their scale are replaced by it, to bound their weights. For a median it is Huber's
// constant, with which models use normal samples nearly as well as under the squared error. In the tails that would draw
// their slopes towards those of the mean: less of it there.
constexpr double kOfMedian = 1.17;
constexpr double kLeastShare = 0.035;
// Of the scale: residuals beyond count as that.
constexpr double kFarthest = 6.0;

// Targets further away than the largest step would make the model follow single samples; the
// curvature is then increased, which keeps the gradient.
double newton_weight(const ScoredSamples& s, const Derivatives& d, double largest_step,
                     index_t i) {
  double curvature = kLeastCurvature;
  for (index_t k = 0; k < s.n_outputs; ++k) {
    const index_t at = k * s.n_samples + i;
    curvature = std::max(curvature, d.hessian == nullptr ? 1.0 : d.hessian[at]);
    if (d.hessian != nullptr)
      curvature = std::max(curvature, std::abs(d.gradient[at]) / largest_step);
  }
  return curvature;
}

// The parabola with the loss's slope at a residual. For Huber's loss it is the loss itself at
// small residuals. For a pinball loss its curvature would grow without bound towards 0: residuals
// below their output's `least` are replaced by it, and at 0, where the slope jumps, the mean slope is used.
struct Secants {
  bool is_huber;
  std::vector<double> least, farthest;
  double mean_slope;

  double curvature(index_t output, double residual, double slope) const {
    const double counted = std::min(residual, farthest[output]);
    if (is_huber) return counted > 0.0 ? slope / counted : 1.0;
    if (!(least[output] > 0.0)) return 1.0;  // no residual at all
    return (residual > 0.0 ? slope : mean_slope) / std::max(counted, least[output]);
  }
};

Secants find_secants(const Loss& loss, const ScoredSamples& s, const Derivatives& d) {
  std::vector<double> least, farthest;
  for (index_t k = 0; k < s.n_outputs; ++k) farthest.push_back(kFarthest * residual_scale(s, k));
  if (loss.leaf_rule() == LeafRule::clipped_mean) return {true, {}, std::move(farthest), 0.0};
  const double balance = 4.0 * loss.quantile_order() * (1.0 - loss.quantile_order());
  const double share = std::max(kOfMedian * balance * balance, kLeastShare);
  for (const double far : farthest) least.push_back(share / kFarthest * far);
  double slopes = 0.0, sloping = 0.0;
  for (index_t i = 0; i < s.n_samples; ++i) {
    const double w = s.weight_of(i);
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const index_t at = k * s.n_samples + i;
      if (s.y[at] == s.raw[at]) continue;
      sloping += w;
      slopes += w * std::abs(d.gradient[at]);
    }
  }
  return {false, std::move(least), std::move(farthest), sloping > 0.0 ? slopes / sloping : 0.0};
}

// Writes the targets of row i and returns its weight. The parabola's slope, not the loss's: the
// two differ below `least` alone, where the sign of a residual may be its rounding. Curvatures
// have the unit 1 / y, so that no size is too small: the least number only keeps divisors above 0.
double secant_weight(const ScoredSamples& s, const Derivatives& d, index_t i,
                     const Secants& secants, double* target) {
  double largest = std::numeric_limits<double>::min();
  for (index_t k = 0; k < s.n_outputs; ++k) {
    const index_t at = k * s.n_samples + i;
    const double residual = (s.y[at] - s.raw[at]) / s.unit_of(k);
    const double curvature = secants.curvature(k, std::abs(residual), std::abs(d.gradient[at]));
    const double far = secants.farthest[k];
    target[k] = curvature * std::clamp(residual, -far, far);
    largest = std::max(largest, curvature);
  }
  for (index_t k = 0; k < s.n_outputs; ++k) target[k] /= largest;
  return largest;
}

}  // namespace

void find_working_response(const Loss& loss, const ScoredSamples& s, const Derivatives& d,
                           const std::uint8_t* in_bag, WorkingResponse& out,
                           const Execution& execution) {
  const index_t n = s.n_samples;
  const bool secant = loss.leaf_rule() != LeafRule::newton;
  const Secants secants = secant ? find_secants(loss, s, d) : Secants();
  out.farthest = secants.farthest;
  out.target.resize(n * s.n_outputs);
  out.weight.resize(n);
  for_each_part(execution, n, kTaskRows, [&](index_t, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) {
      double* target = out.target.data() + i * s.n_outputs;
      const double curvature =
          secant ? secant_weight(s, d, i, secants, target)
                 : newton_weight(s, d, loss.largest_step(), i);
      for (index_t k = 0; k < s.n_outputs && !secant; ++k)
        target[k] = (0.0 - d.gradient[k * n + i]) / curvature;  // not -0 without a gradient
      out.weight[i] = in_bag == nullptr || in_bag[i] != 0 ? s.weight_of(i) * curvature : 0.0;
    }
  });
  if (!secant) return;
  // In units of their mean, so that the penalty has the same meaning as for the squared error.
  double sum = 0.0, total = 0.0;
  for (index_t i = 0; i < n; ++i)
    if (out.weight[i] > 0.0) {
      sum += out.weight[i];
      total += s.weight_of(i);
    }
  if (!std::isfinite(sum)) throw std::invalid_argument("y is too close to constant: weights of its residuals overflow float64");
  if (!(sum > 0.0)) return;
  for (double& weight : out.weight) weight *= total / sum;
}

}  // namespace fctree::ensembles
