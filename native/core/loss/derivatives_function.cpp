#include "core/loss/derivatives_function.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/errors.hpp"

namespace fctree {

namespace {

class LossOfDerivatives : public Loss {
 public:
  explicit LossOfDerivatives(const DerivativesFunction& function) : function_(function) {}

  bool has_hessian() const override { return true; }
  bool has_value() const override { return false; }
  double largest_step() const override { return std::numeric_limits<double>::infinity(); }

  void baseline(const ScoredSamples& samples, const Execution&, double* out) const override {
    std::fill_n(out, samples.n_outputs, 0.0);
  }

  void prepare(const ScoredSamples& samples) override {
    gradient_.resize(samples.n_outputs * samples.n_samples);
    hessian_.resize(gradient_.size());
    if (!function_.compute(function_.context, samples, {gradient_.data(), hessian_.data()}))
      throw Interrupted();
  }

  // NaN; the derivatives are those of the samples last prepared for.
  LossValue evaluate(const ScoredSamples& s, index_t begin, index_t end,
                     const Derivatives* out) const override {
    for (index_t k = 0; k < s.n_outputs && out != nullptr; ++k) {
      const index_t first = k * s.n_samples + begin;
      std::copy_n(gradient_.data() + first, end - begin, out->gradient + first);
      std::copy_n(hessian_.data() + first, end - begin, out->hessian + first);
    }
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    return {kUnknown, kUnknown};
  }

 private:
  const DerivativesFunction& function_;
  std::vector<double> gradient_, hessian_;
};

}  // namespace

std::unique_ptr<Loss> make_loss_of(const DerivativesFunction& function) {
  return std::make_unique<LossOfDerivatives>(function);
}

}  // namespace fctree
