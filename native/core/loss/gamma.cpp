// Half the gamma deviance, y e^-f - 1 + f - log y.
#include <cmath>

#include "core/loss/log_link.hpp"
#include "core/loss/registry.hpp"

namespace fctree {

namespace {

class Gamma : public LogLinkLoss<Gamma> {
 public:
  double value(double y, double f) const { return y * std::exp(-f) - 1.0 + f - std::log(y); }
  double gradient(double y, double f) const { return 1.0 - y * std::exp(-f); }
  double hessian(double, double) const { return 1.0; }
};

}  // namespace

LossInfo gamma_loss() {
  return {"gamma", "regression", "positive", "log", kNoLossParameter,
          [](double, index_t) -> std::unique_ptr<Loss> { return std::make_unique<Gamma>(); }};
}

}  // namespace fctree
