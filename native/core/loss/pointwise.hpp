// Losses that are sums over outputs of a function of one target y and one score f.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "core/exact_sum.hpp"
#include "core/loss/loss.hpp"

namespace fctree {

// `Point` derives from this and has value(y, f), gradient(y, f) and hessian(y, f).
template <class Point>
class PointwiseLoss : public Loss {
 public:
  // Where it has a prepare() of its own.
  bool prepares() const override {
    return !std::is_same<decltype(&Point::prepare), decltype(&Loss::prepare)>::value;
  }
  // What the derivatives of an output are multiplied by.
  double share_of(index_t) const { return 1.0; }
  LossValue evaluate(const ScoredSamples& s, index_t begin, index_t end,
                     const Derivatives* out) const override {
    const Point& point = static_cast<const Point&>(*this);
    LossValue sum;
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const double* y = s.y + k * s.n_samples;
      const double* raw = s.raw + k * s.n_samples;
      const double unit = s.unit_of(k), in_units = 1.0 / unit;
      double of_output = 0.0;
      for (index_t i = begin; i < end; ++i)
        of_output += s.weight_of(i) * point.value(in_units * y[i], in_units * raw[i]);
      sum.scaled += reported_factor() * of_output;
      sum.reported += reported_factor() * of_output * (s.unit == nullptr ? 1.0 : unit_of_loss(unit));
      if (out == nullptr) continue;
      const double share = point.share_of(k);
      double* gradient = out->gradient + k * s.n_samples;
      for (index_t i = begin; i < end; ++i)
        gradient[i] = share * point.gradient(in_units * y[i], in_units * raw[i]);
      if (out->hessian == nullptr) continue;
      double* hessian = out->hessian + k * s.n_samples;
      for (index_t i = begin; i < end; ++i)
        hessian[i] = share * point.hessian(in_units * y[i], in_units * raw[i]);
    }
    return sum;
  }
};

// Those whose scores are logarithms of means, and whose best constant is that of the mean target.
template <class Point>
class LogLinkLoss : public PointwiseLoss<Point> {
 public:
  bool has_hessian() const override { return true; }
  void baseline_of_means(const double* means, index_t n_outputs, double* out) const override {
    for (index_t k = 0; k < n_outputs; ++k) out[k] = std::log(means[k]);
  }
  bool has_dispersion() const override { return true; }
  void find_dispersion(const ScoredSamples& s, const Execution& execution) override {
    constexpr double kLargestSlope = 1e140;  // whose squares are no infinity
    const Point& point = static_cast<const Point&>(*this);
    shares_.clear();
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const double *y = s.y + k * s.n_samples, *raw = s.raw + k * s.n_samples;
      const auto sum = [&](const auto& term) {
        return exact_sum(s.n_samples, [&](index_t i) { return s.weight_of(i) * term(y[i], raw[i]); }, execution);
      };
      const double slopes = sum([&](double target, double score) {
        const double slope = std::min(std::abs(point.gradient(target, score)), kLargestSlope);
        return slope * slope;
      });
      const double share = sum([&](double target, double score) { return point.hessian(target, score); }) / slopes;
      shares_.push_back(std::isnormal(share) ? share : 1.0);
    }
  }
  double share_of(index_t k) const { return shares_.empty() ? 1.0 : shares_[k]; }

 private:
  std::vector<double> shares_;
};

}  // namespace fctree
