// Losses whose scores are logarithms of means: Poisson's, gamma's and Tweedie's.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/exact_sum.hpp"
#include "core/loss/pointwise.hpp"
#include "core/parallel.hpp"

namespace fctree {

// The best constant is the logarithm of the mean target. The hessian is the expected one, of targets whose mean
// is e^f: one that depends on the target gives large targets the weight of many. At small means it would be next
// to nothing, and linear models of the other samples would take these anywhere: it is that of a hundredth of all
// samples' mean at least.
template <class Point>
class LogLinkLoss : public PointwiseLoss<Point> {
 public:
  // Whether the best constant is the one that balances: only scores that training starts with need another.
  static constexpr bool kBalanceIsBest = false;
  bool has_hessian() const override { return true; }
  void baseline_of_means(const double* means, index_t n_outputs, double* out) const override {
    for (index_t k = 0; k < n_outputs; ++k) out[k] = std::log(means[k]);
  }
  // With a leaf's sums B of e^((2-p) f) = h and A of y e^((1-p) f) = h - g, p the power of the variance, its minimum is
  // where B e^step = A. Upwards a Newton step is the rise of the mean itself, and overshoots.
  double limited(double step, double gradient, double hessian) const override {
    return gradient < 0.0 ? std::min(step, std::log1p(-gradient / hessian)) : step;
  }

  bool balances() const override { return true; }
  void find_dispersion(const ScoredSamples& s, const Execution& execution) override {
    constexpr double kLargestSlope = 1e140;  // whose squares are no infinity, in units of all hessians
    constexpr double kLeastMean = 0.01;      // of all samples'
    const Point& point = static_cast<const Point&>(*this);
    shares_.clear();
    totals_.clear();
    floors_.clear();
    centres_.clear();
    for (index_t k = 0; k < s.n_outputs; ++k)
      totals_.push_back(sum(s, k, execution, [](double target, double) { return target; }));
    const std::vector<double> shifts = find_shifts(s, execution);  // scores of the samples' own may be far from balance
    for (index_t k = 0; k < s.n_outputs; ++k) {
      floors_.push_back(std::log(kLeastMean * totals_[k] / sum(s, k, execution, [](double, double) { return 1.0; })));
      const auto hessian = [&](double target, double score) { return point.hessian(target, score + shifts[k]); };
      const double h = sum(s, k, execution, hessian);
      const double unit = std::isnormal(h) ? std::ldexp(1.0, -std::ilogb(h)) : 1.0;
      const double slopes = sum(s, k, execution, [&](double target, double score) {
        const double slope = std::min(unit * std::abs(point.gradient(target, score + shifts[k])), kLargestSlope);
        return slope * slope;
      });
      const double share = unit * h / slopes * unit;
      shares_.push_back(std::isnormal(share) ? share : 1.0);
    }
  }
  double share_of(index_t k) const { return shares_.empty() ? 1.0 : shares_[k]; }

  std::vector<double> find_shifts(const ScoredSamples& s, const Execution& execution) override {
    std::vector<double> shifts;
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const double predicted = sum(s, k, execution, [](double, double score) { return std::exp(score); });
      shifts.push_back(logarithm(totals_[k] / predicted));
    }
    return shifts;
  }
  void find_centres(const ScoredSamples& s, const Execution& execution) override {
    const Point& point = static_cast<const Point&>(*this);
    const bool may_lack_balance = centres_.empty();
    centres_.assign(s.n_outputs, 0.0);
    if (Point::kBalanceIsBest && !may_lack_balance) return;
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const auto hessian = [&](double target, double score) { return point.hessian(target, score); };
      const auto gradient = [&](double target, double score) { return point.gradient(target, score); };
      const double h = sum(s, k, execution, hessian), g = sum(s, k, execution, gradient);
      const double centre = 0.0 - logarithm(1.0 - g / h);
      if (!Point::kBalanceIsBest || std::abs(centre) > kLeastCentre) centres_[k] = centre;
    }
  }
  double centre_of(index_t k) const { return centres_.empty() ? 0.0 : centres_[k]; }
  double floor_of(index_t k) const {
    return floors_.empty() ? PointwiseLoss<Point>::floor_of(k) : floors_[k];
  }

 private:
  // Balanced scores of columns whose offset is 1e13 times their spread are off by as much.
  static constexpr double kLeastCentre = 1e-3;
  static double logarithm(double x) { return std::isnormal(x) && x > 0.0 ? std::log(x) : 0.0; }
  // Of an output's targets and scores, weighted, in all places.
  template <class Term>
  double sum(const ScoredSamples& s, index_t k, const Execution& execution, const Term& term) {
    const double *y = s.y + k * s.n_samples, *raw = s.raw + k * s.n_samples;
    terms_.resize(s.n_samples);
    for_each_part(execution, s.n_samples, kSummedAtOnce, [&](index_t, index_t begin, index_t end) {
      for (index_t i = begin; i < end; ++i) terms_[i] = s.weight_of(i) * term(y[i], raw[i]);
    });
    return exact_sum(s.n_samples, [&](index_t i) { return terms_[i]; }, execution);
  }

  std::vector<double> shares_, totals_, floors_, centres_;
  std::vector<double> terms_;  // of a sum
};

}  // namespace fctree
