// Half the Tweedie deviance of a power p between 1 (Poisson) and 2 (gamma), for targets with a mass at
// 0 and a positive continuous part: y^(2-p) / ((1-p)(2-p)) - y e^((1-p) f) / (1-p) + e^((2-p) f) / (2-p)
// (Jorgensen, 1987).
#include <cmath>

#include "core/loss/log_link.hpp"
#include "core/loss/registry.hpp"

namespace fctree {

namespace {

class Tweedie : public LogLinkLoss<Tweedie> {
 public:
  explicit Tweedie(double power) : low_(power - 1.0), high_(2.0 - power) {}
  double value(double y, double f) const {
    return relative(y, f) / low_ + std::exp(high_ * f) / high_ -
           std::pow(y, high_) / (low_ * high_);
  }
  double gradient(double y, double f) const { return std::exp(high_ * f) - relative(y, f); }
  double hessian(double, double f) const { return std::exp(high_ * f); }

 private:
  double relative(double y, double f) const { return y > 0.0 ? y * std::exp(-low_ * f) : 0.0; }

  double low_;   // power - 1
  double high_;  // 2 - power
};

}  // namespace

LossInfo tweedie_loss() {
  return {"tweedie", "regression", "non_negative", "log", {"power", 1.0, 2.0, 1.5},
          [](double power, index_t) -> std::unique_ptr<Loss> {
            return std::make_unique<Tweedie>(power);
          }};
}

}  // namespace fctree
