// Half the squared error, reported as the squared error.
#include <algorithm>

#include "core/loss/pointwise.hpp"
#include "core/loss/registry.hpp"

namespace fctree {

namespace {

class SquaredError : public PointwiseLoss<SquaredError> {
 public:
  double value(double y, double f) const { return 0.5 * ((f - y) * (f - y)); }
  double gradient(double y, double f) const { return f - y; }
  double hessian(double, double) const { return 1.0; }

  double reported_factor() const override { return 2.0; }
  double unit_of_loss(double unit) const override { return unit * unit; }
  void baseline_of_means(const double* means, index_t n_outputs, double* out) const override {
    std::copy(means, means + n_outputs, out);
  }
};

}  // namespace

LossInfo squared_error_loss() {
  return {"squared_error", "regression", "real", "identity", kNoLossParameter,
          [](double, index_t) -> std::unique_ptr<Loss> { return std::make_unique<SquaredError>(); }};
}

}  // namespace fctree
