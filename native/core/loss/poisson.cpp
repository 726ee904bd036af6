// Half the Poisson deviance, y log y - y - y f + e^f.
#include <cmath>

#include "core/loss/log_link.hpp"
#include "core/loss/registry.hpp"

namespace fctree {

namespace {

// x log x with its limit at 0.
double xlogx(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

class Poisson : public LogLinkLoss<Poisson> {
 public:
  static constexpr bool kBalanceIsBest = true;
  double value(double y, double f) const { return xlogx(y) - y - y * f + std::exp(f); }
  double gradient(double y, double f) const { return std::exp(f) - y; }
  double hessian(double, double f) const { return std::exp(f); }
};

}  // namespace

LossInfo poisson_loss() {
  return {"poisson", "regression", "non_negative", "log", kNoLossParameter,
          [](double, index_t) -> std::unique_ptr<Loss> { return std::make_unique<Poisson>(); }};
}

}  // namespace fctree
