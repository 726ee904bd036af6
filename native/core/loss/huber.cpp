// Huber's loss, squared up to delta and linear beyond: delta is a quantile of the absolute residuals
// of the round.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/loss/order_statistics.hpp"
#include "core/loss/pointwise.hpp"
#include "core/loss/registry.hpp"

namespace fctree {

namespace {

class Huber : public PointwiseLoss<Huber> {
 public:
  explicit Huber(double order) : order_(order) {}
  double value(double y, double f) const {
    const double r = std::abs(y - f);
    return r <= delta_ ? 0.5 * r * r : delta_ * (r - 0.5 * delta_);
  }
  double gradient(double y, double f) const { return std::clamp(f - y, -delta_, delta_); }
  double hessian(double, double) const { return 1.0; }

  LeafRule leaf_rule() const override { return LeafRule::clipped_mean; }
  double residual_bound() const override { return delta_; }
  double unit_of_loss(double unit) const override { return unit * unit; }
  double least_weight() const override { return 7.0; }
  void baseline(const ScoredSamples& s, const Execution&, double* out) const override {
    target_quantiles(s, 0.5, out);
  }
  void prepare(const ScoredSamples& s) override {
    std::vector<double> size(s.n_samples);
    delta_ = 0.0;
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const index_t first = k * s.n_samples;
      for (index_t i = 0; i < s.n_samples; ++i)
        size[i] = std::abs(s.y[first + i] - s.raw[first + i]) / s.unit_of(k);
      delta_ = std::max(delta_, quantile_of(s, size, order_));
    }
  }

 private:
  double order_;
  double delta_ = 0.0;
};

}  // namespace

LossInfo huber_loss() {
  return {"huber", "regression", "real", "identity", {"quantile", 0.0, 1.0, 0.9},
          [](double order, index_t) -> std::unique_ptr<Loss> {
            return std::make_unique<Huber>(order);
          }};
}

}  // namespace fctree
