// The pinball loss, minimised by a quantile, and the absolute error: twice that of order 1/2.
#include <limits>

#include "core/loss/order_statistics.hpp"
#include "core/loss/pointwise.hpp"
#include "core/loss/registry.hpp"

namespace fctree {

namespace {

class Pinball : public PointwiseLoss<Pinball> {
 public:
  Pinball(double order, double factor) : order_(order), factor_(factor) {}
  double value(double y, double f) const {
    const double r = y - f;
    return factor_ * (r >= 0.0 ? order_ * r : (order_ - 1.0) * r);
  }
  double gradient(double y, double f) const {
    if (y == f) return 0.0;
    return factor_ * (y > f ? -order_ : 1.0 - order_);
  }
  double hessian(double, double) const { return 1.0; }

  LeafRule leaf_rule() const override { return LeafRule::quantile; }
  double quantile_order() const override { return order_; }
  void baseline(const ScoredSamples& s, const Execution&, double* out) const override {
    target_quantiles(s, order_, out);
  }

 private:
  double order_;
  double factor_;
};

}  // namespace

LossInfo absolute_error_loss() {
  return {"absolute_error", "regression", "real", "identity", kNoLossParameter,
          [](double, index_t) -> std::unique_ptr<Loss> {
            return std::make_unique<Pinball>(0.5, 2.0);
          }};
}

LossInfo quantile_loss() {
  return {"quantile", "regression", "real", "identity",
          {"quantile", 0.0, 1.0, std::numeric_limits<double>::quiet_NaN()},
          [](double order, index_t) -> std::unique_ptr<Loss> {
            return std::make_unique<Pinball>(order, 1.0);
          }};
}

}  // namespace fctree
