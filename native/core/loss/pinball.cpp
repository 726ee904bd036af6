// The pinball loss, minimised by a quantile, and the absolute error: twice that of order 1/2.
//
// Its slope says nothing about how far a sample is from its target: many equal targets that the scores
// approach, and never quite reach, would have the steepest slope for ever, and every split. So the slope of
// residuals that are small by the round's standards is smaller in proportion.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/order_statistics.hpp"
#include "core/loss/pointwise.hpp"
#include "core/loss/registry.hpp"

namespace fctree {

namespace {

constexpr double kLeastOfMedians = 5.0;  // samples

class Pinball : public PointwiseLoss<Pinball> {
 public:
  Pinball(double order, double factor, double least_weight)
      : order_(order), factor_(factor), least_weight_(least_weight) {}
  double value(double y, double f) const {
    const double r = y - f;
    return factor_ * (r >= 0.0 ? order_ * r : (order_ - 1.0) * r);
  }
  double gradient(double y, double f) const {
    const double r = y - f;
    if (r == 0.0) return 0.0;
    const double share = std::min(std::abs(r) * inverse_near_, 1.0);
    return factor_ * (r > 0.0 ? -order_ : 1.0 - order_) * share;
  }
  double hessian(double, double) const { return 1.0; }

  LeafRule leaf_rule() const override { return LeafRule::quantile; }
  double quantile_order() const override { return order_; }
  double step_length() const override { return std::max(kShortestStep, 2.0 * std::sqrt(order_ * (1.0 - order_))); }
  double unit_of_loss(double unit) const override { return unit; }
  double least_weight() const override { return least_weight_; }
  void baseline(const ScoredSamples& s, const Execution&, double* out) const override {
    target_quantiles(s, order_, out);
  }
  void prepare(const ScoredSamples& s) override {
    double least = std::numeric_limits<double>::infinity();
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const double scale = residual_scale(s, k);
      if (std::isfinite(scale)) least = std::min(least, scale);
    }
    inverse_near_ = 1.0 / (kNear * (std::isfinite(least) ? least : 0.0));
  }

 private:
  static constexpr double kShortestStep = 0.4;
  static constexpr double kNear = 0.02;  // of the residuals' scale, the least one of all outputs

  double order_;
  double factor_;
  double least_weight_;
  double inverse_near_ = std::numeric_limits<double>::infinity();
};

}  // namespace

LossInfo absolute_error_loss() {
  return {"absolute_error", "regression", "real", "identity", kNoLossParameter,
          [](double, index_t) -> std::unique_ptr<Loss> {
            return std::make_unique<Pinball>(0.5, 2.0, kLeastOfMedians);
          }};
}

LossInfo quantile_loss() {
  return {"quantile", "regression", "real", "identity",
          {"quantile", 0.0, 1.0, std::numeric_limits<double>::quiet_NaN()},
          [](double order, index_t) -> std::unique_ptr<Loss> {
            return std::make_unique<Pinball>(order, 1.0, order == 0.5 ? kLeastOfMedians : 0.0);
          }};
}

}  // namespace fctree
