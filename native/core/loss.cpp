#include "core/loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/exact_sum.hpp"

namespace fctree {

namespace {

double weighted_mean(const ScoredSamples& s, const double* y) {
  const double sum = exact_sum(s.n_samples, [&](index_t i) { return s.weight_of(i) * y[i]; });
  return sum / exact_sum(s.n_samples, [&](index_t i) { return s.weight_of(i); });
}

// The starting scores of a loss whose best constant depends on each target's mean alone.
void baseline_of_targets(const Loss& loss, const ScoredSamples& s, double* out) {
  std::vector<double> means(s.n_outputs);
  for (index_t k = 0; k < s.n_outputs; ++k) means[k] = weighted_mean(s, s.y + k * s.n_samples);
  loss.baseline_of_means(means.data(), s.n_outputs, out);
}

double quantile_of(const ScoredSamples& s, std::vector<double> values, double q) {
  std::vector<double> weights;
  if (s.weight != nullptr) weights.assign(s.weight, s.weight + s.n_samples);
  return weighted_quantile(values.data(), weights.empty() ? nullptr : weights.data(),
                           s.n_samples, q);
}

// A loss that is a sum over outputs of functions of (y, F); `Point` has
// value(y, f), gradient(y, f) and hessian(y, f).
template <class Point>
double evaluate_pointwise(const Point& point, const ScoredSamples& s, index_t begin, index_t end,
                          const Derivatives* out) {
  double sum = 0.0;
  for (index_t k = 0; k < s.n_outputs; ++k) {
    const double* y = s.y + k * s.n_samples;
    const double* raw = s.raw + k * s.n_samples;
    for (index_t i = begin; i < end; ++i) sum += s.weight_of(i) * point.value(y[i], raw[i]);
    if (out == nullptr) continue;
    double* gradient = out->gradient + k * s.n_samples;
    for (index_t i = begin; i < end; ++i) gradient[i] = point.gradient(y[i], raw[i]);
    if (out->hessian == nullptr) continue;
    double* hessian = out->hessian + k * s.n_samples;
    for (index_t i = begin; i < end; ++i) hessian[i] = point.hessian(y[i], raw[i]);
  }
  return sum;
}

class SquaredError : public Loss {
 public:
  double value(double y, double f) const { return (y - f) * (y - f); }
  double gradient(double y, double f) const { return y - f; }
  double hessian(double, double) const { return 1.0; }

  void baseline(const ScoredSamples& s, double* out) const override {
    baseline_of_targets(*this, s, out);
  }
  void baseline_of_means(const double* means, index_t n_outputs, double* out) const override {
    std::copy(means, means + n_outputs, out);
  }
  double evaluate(const ScoredSamples& s, index_t begin, index_t end,
                  const Derivatives* out) const override {
    return evaluate_pointwise(*this, s, begin, end, out);
  }
};

// The pinball loss; at order 1/2 twice it is the absolute error.
class Quantile : public Loss {
 public:
  Quantile(double order, double factor) : order_(order), factor_(factor) {}
  double value(double y, double f) const {
    const double r = y - f;
    return factor_ * (r >= 0.0 ? order_ * r : (order_ - 1.0) * r);
  }
  double gradient(double y, double f) const {
    if (y == f) return 0.0;
    return factor_ * (y > f ? order_ : order_ - 1.0);
  }
  double hessian(double, double) const { return 1.0; }

  LeafRule leaf_rule() const override { return LeafRule::quantile; }
  double quantile_order() const override { return order_; }
  void baseline(const ScoredSamples& s, double* out) const override {
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const double* y = s.y + k * s.n_samples;
      out[k] = quantile_of(s, {y, y + s.n_samples}, order_);
    }
  }
  double evaluate(const ScoredSamples& s, index_t begin, index_t end,
                  const Derivatives* out) const override {
    return evaluate_pointwise(*this, s, begin, end, out);
  }

 private:
  double order_;
  double factor_;
};

class Huber : public Loss {
 public:
  explicit Huber(double order) : order_(order) {}
  double value(double y, double f) const {
    const double r = std::abs(y - f);
    return r <= delta_ ? 0.5 * r * r : delta_ * (r - 0.5 * delta_);
  }
  double gradient(double y, double f) const { return std::clamp(y - f, -delta_, delta_); }
  double hessian(double, double) const { return 1.0; }

  LeafRule leaf_rule() const override { return LeafRule::clipped_mean; }
  double residual_bound() const override { return delta_; }
  void baseline(const ScoredSamples& s, double* out) const override {
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const double* y = s.y + k * s.n_samples;
      out[k] = quantile_of(s, {y, y + s.n_samples}, 0.5);
    }
  }
  void prepare(const ScoredSamples& s) override {
    std::vector<double> size(s.n_samples);
    delta_ = 0.0;
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const index_t first = k * s.n_samples;
      for (index_t i = 0; i < s.n_samples; ++i)
        size[i] = std::abs(s.y[first + i] - s.raw[first + i]);
      delta_ = std::max(delta_, quantile_of(s, size, order_));
    }
  }
  double evaluate(const ScoredSamples& s, index_t begin, index_t end,
                  const Derivatives* out) const override {
    return evaluate_pointwise(*this, s, begin, end, out);
  }

 private:
  double order_;
  double delta_ = 0.0;
};

// x log x with its limit at 0.
double xlogx(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

class Poisson : public Loss {
 public:
  double value(double y, double f) const { return xlogx(y) - y - y * f + std::exp(f); }
  double gradient(double y, double f) const { return y - std::exp(f); }
  double hessian(double, double f) const { return std::exp(f); }

  bool has_hessian() const override { return true; }
  // Upwards a Newton step is the rise of the mean itself, the minimum lies at its logarithm.
  double limited(double step, double gradient, double hessian) const override {
    return gradient > 0.0 ? std::min(step, std::log1p(gradient / hessian)) : step;
  }
  void baseline(const ScoredSamples& s, double* out) const override {
    baseline_of_targets(*this, s, out);
  }
  void baseline_of_means(const double* means, index_t n_outputs, double* out) const override {
    for (index_t k = 0; k < n_outputs; ++k) out[k] = std::log(means[k]);
  }
  double evaluate(const ScoredSamples& s, index_t begin, index_t end,
                  const Derivatives* out) const override {
    return evaluate_pointwise(*this, s, begin, end, out);
  }
};

class Gamma : public Loss {
 public:
  double value(double y, double f) const { return y * std::exp(-f) - 1.0 + f - std::log(y); }
  double gradient(double y, double f) const { return y * std::exp(-f) - 1.0; }
  double hessian(double y, double f) const { return y * std::exp(-f); }

  bool has_hessian() const override { return true; }
  // As for Poisson, downwards.
  double limited(double step, double gradient, double hessian) const override {
    return gradient < 0.0 ? std::max(step, -std::log1p(-gradient / hessian)) : step;
  }
  void baseline(const ScoredSamples& s, double* out) const override {
    baseline_of_targets(*this, s, out);
  }
  void baseline_of_means(const double* means, index_t n_outputs, double* out) const override {
    for (index_t k = 0; k < n_outputs; ++k) out[k] = std::log(means[k]);
  }
  double evaluate(const ScoredSamples& s, index_t begin, index_t end,
                  const Derivatives* out) const override {
    return evaluate_pointwise(*this, s, begin, end, out);
  }
};

// Probabilities are kept this far from 0 and 1 in a starting score.
constexpr double kLeastProbability = 1e-15;

class BinaryLogLoss : public Loss {
 public:
  bool has_hessian() const override { return true; }
  void baseline(const ScoredSamples& s, double* out) const override {
    baseline_of_targets(*this, s, out);
  }
  void baseline_of_means(const double* means, index_t, double* out) const override {
    const double p = std::clamp(means[0], kLeastProbability, 1 - kLeastProbability);
    out[0] = std::log(p / (1.0 - p));
  }
  // One exponential a sample: e = exp(-|F|) gives the probability and the loss.
  double evaluate(const ScoredSamples& s, index_t begin, index_t end,
                  const Derivatives* out) const override {
    double sum = 0.0;
    for (index_t i = begin; i < end; ++i) {
      const double f = s.raw[i];
      const double e = std::exp(-std::abs(f));
      sum += s.weight_of(i) * (std::log1p(e) + std::max(f, 0.0) - s.y[i] * f);
      if (out == nullptr) continue;
      const double p = (f >= 0.0 ? 1.0 : e) / (1.0 + e);
      out->gradient[i] = s.y[i] - p;
      out->hessian[i] = e / ((1.0 + e) * (1.0 + e));
    }
    return sum;
  }
};

class MulticlassLogLoss : public Loss {
 public:
  bool has_hessian() const override { return true; }
  void baseline(const ScoredSamples& s, double* out) const override {
    std::vector<double> share(s.n_outputs);
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const auto in_class = [&](index_t i) { return static_cast<index_t>(s.y[i]) == k; };
      share[k] = exact_sum(s.n_samples,
                           [&](index_t i) { return in_class(i) ? s.weight_of(i) : 0.0; });
    }
    const double total = exact_sum(s.n_samples, [&](index_t i) { return s.weight_of(i); });
    for (double& value : share) value /= total;
    baseline_of_means(share.data(), s.n_outputs, out);
  }
  // The mean of a class's indicator is its share.
  void baseline_of_means(const double* means, index_t n_outputs, double* out) const override {
    double mean = 0.0;
    for (index_t k = 0; k < n_outputs; ++k) {
      out[k] = std::log(std::max(means[k], kLeastProbability));
      mean += out[k] / static_cast<double>(n_outputs);
    }
    for (index_t k = 0; k < n_outputs; ++k) out[k] -= mean;
  }
  double evaluate(const ScoredSamples& s, index_t begin, index_t end,
                  const Derivatives* out) const override {
    // With K / (K - 1) the diagonal stands for the whole hessian of a softmax: exact for
    // two classes (Friedman, 2001).
    const double diagonal = static_cast<double>(s.n_outputs) / (s.n_outputs - 1.0);
    std::vector<double> p(s.n_outputs);
    double sum = 0.0;
    for (index_t i = begin; i < end; ++i) {
      double largest = -std::numeric_limits<double>::infinity(), total = 0.0;
      for (index_t k = 0; k < s.n_outputs; ++k)
        largest = std::max(largest, s.raw[k * s.n_samples + i]);
      for (index_t k = 0; k < s.n_outputs; ++k)
        total += p[k] = std::exp(s.raw[k * s.n_samples + i] - largest);
      const index_t label = static_cast<index_t>(s.y[i]);
      sum += s.weight_of(i) *
             (largest + std::log(total) - s.raw[label * s.n_samples + i]);
      if (out == nullptr) continue;
      for (index_t k = 0; k < s.n_outputs; ++k) {
        const double share = p[k] / total;
        out->gradient[k * s.n_samples + i] = (k == label ? 1.0 : 0.0) - share;
        out->hessian[k * s.n_samples + i] = diagonal * share * (1.0 - share);
      }
    }
    return sum;
  }
};

}  // namespace

std::unique_ptr<Loss> make_loss(LossKind kind, double quantile) {
  switch (kind) {
    case LossKind::squared_error: return std::make_unique<SquaredError>();
    case LossKind::absolute_error: return std::make_unique<Quantile>(0.5, 2.0);
    case LossKind::huber: return std::make_unique<Huber>(quantile);
    case LossKind::quantile: return std::make_unique<Quantile>(quantile, 1.0);
    case LossKind::poisson: return std::make_unique<Poisson>();
    case LossKind::gamma: return std::make_unique<Gamma>();
    case LossKind::binary_log_loss: return std::make_unique<BinaryLogLoss>();
    case LossKind::multiclass_log_loss: return std::make_unique<MulticlassLogLoss>();
  }
  throw std::logic_error("unknown loss");
}

double weighted_quantile(double* values, double* weights, index_t n, double q) {
  if (weights == nullptr) {
    const double position = q * static_cast<double>(n);
    const index_t at =
        std::clamp<index_t>(static_cast<index_t>(std::ceil(position)) - 1, 0, n - 1);
    std::nth_element(values, values + at, values + n);
    const double value = values[at];
    if (position != static_cast<double>(at + 1) || at + 1 == n) return value;
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
  for (std::size_t at = 0; at < order.size(); ++at) {
    sum += weights[order[at]];
    if (sum < q * total) continue;
    const double value = values[order[at]];
    if (sum > q * total || at + 1 == order.size()) return value;
    return 0.5 * (value + values[order[at + 1]]);
  }
  return values[order.back()];
}

namespace {

double clipped_mean(double* residuals, double* weights, index_t n, double bound) {
  const std::vector<double> kept(residuals, residuals + n);
  std::vector<double> kept_weights;
  if (weights != nullptr) kept_weights.assign(weights, weights + n);
  const double median = weighted_quantile(residuals, weights, n, 0.5);
  double sum = 0.0, total = 0.0;
  for (index_t i = 0; i < n; ++i) {
    const double w = kept_weights.empty() ? 1.0 : kept_weights[i];
    sum += w * std::clamp(kept[i] - median, -bound, bound);
    total += w;
  }
  return total > 0.0 ? median + sum / total : 0.0;
}

}  // namespace

double order_statistic(const Loss& loss, double* residuals, double* weights, index_t n) {
  if (loss.leaf_rule() == LeafRule::clipped_mean)
    return clipped_mean(residuals, weights, n, loss.residual_bound());
  return weighted_quantile(residuals, weights, n, loss.quantile_order());
}

}  // namespace fctree
