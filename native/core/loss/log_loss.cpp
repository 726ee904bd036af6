// The log-loss of classes: binary (one score, the log-odds of y = 1) or softmax (one score per
// class).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/exact_sum.hpp"
#include "core/loss/registry.hpp"

namespace fctree {

namespace {

// Probabilities are kept this far from 0 and 1 in a starting score.
constexpr double kLeastProbability = 1e-15;

class BinaryLogLoss : public Loss {
 public:
  bool has_hessian() const override { return true; }
  bool prepares() const override { return false; }
  // So many that one of the rarer class is expected among them: in smaller leaves each of few events is learnt
  // by itself.
  index_t fewest_in_leaf(const ScoredSamples& s, const Execution& execution) const override {
    const double total = exact_sum(s.n_samples, [&](index_t i) { return s.weight_of(i); }, execution);
    const double events = exact_sum(s.n_samples, [&](index_t i) { return s.weight_of(i) * s.y[i]; }, execution);
    const double rarer = std::min(events, total - events);
    constexpr double kMost = 0x1p40;  // more than any number of samples
    return rarer > 0.0 ? static_cast<index_t>(std::min(std::ceil((1.0 - 1e-12) * (total / rarer)), kMost)) : 1;
  }
  void baseline_of_means(const double* means, index_t, double* out) const override {
    const double p = std::clamp(means[0], kLeastProbability, 1 - kLeastProbability);
    out[0] = std::log(p / (1.0 - p));
  }
  // One exponential per sample: e = exp(-|F|) gives the probability and the loss.
  LossValue evaluate(const ScoredSamples& s, index_t begin, index_t end,
                     const Derivatives* out) const override {
    double sum = 0.0;
    for (index_t i = begin; i < end; ++i) {
      const double f = s.raw[i];
      const double e = std::exp(-std::abs(f));
      sum += s.weight_of(i) * (std::log1p(e) + std::max(f, 0.0) - s.y[i] * f);
      if (out == nullptr) continue;
      const double p = (f >= 0.0 ? 1.0 : e) / (1.0 + e);
      out->gradient[i] = p - s.y[i];
      out->hessian[i] = e / ((1.0 + e) * (1.0 + e));
    }
    return {sum, sum};
  }
};

// With K / (K - 1) the diagonal stands for the whole hessian of a softmax: exact for two classes
// (Friedman, 2001).
class MulticlassLogLoss : public Loss {
 public:
  explicit MulticlassLogLoss(index_t n_classes) : n_classes_(static_cast<double>(n_classes)) {}
  bool has_hessian() const override { return true; }
  // 1 / K, of 1 / 4.
  double penalty_factor() const override { return std::min(1.0, 4.0 / n_classes_); }
  bool prepares() const override { return false; }
  void baseline(const ScoredSamples& s, const Execution& execution, double* out) const override {
    std::vector<double> share(s.n_outputs);
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const auto in_class = [&](index_t i) { return static_cast<index_t>(s.y[i]) == k; };
      const auto term = [&](index_t i) { return in_class(i) ? s.weight_of(i) : 0.0; };
      share[k] = exact_sum(s.n_samples, term, execution);
    }
    const double total = exact_sum(s.n_samples, [&](index_t i) { return s.weight_of(i); }, execution);
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
  LossValue evaluate(const ScoredSamples& s, index_t begin, index_t end,
                     const Derivatives* out) const override {
    const double diagonal = n_classes_ / (n_classes_ - 1.0);
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
        out->gradient[k * s.n_samples + i] = share - (k == label ? 1.0 : 0.0);
        out->hessian[k * s.n_samples + i] = diagonal * share * (1.0 - share);
      }
    }
    return {sum, sum};
  }

 private:
  double n_classes_;
};

}  // namespace

LossInfo log_loss() {
  return {"log_loss", "classification", "classes", "logit", kNoLossParameter,
          [](double, index_t n_outputs) -> std::unique_ptr<Loss> {
            if (n_outputs == 1) return std::make_unique<BinaryLogLoss>();
            return std::make_unique<MulticlassLogLoss>(n_outputs);
          }};
}

}  // namespace fctree
