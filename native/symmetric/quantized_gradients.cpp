#include "symmetric/quantized_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/exact_sum.hpp"

namespace fctree::symmetric {

namespace {

// Cuts are scored by (sum of a side)^2 times weights, and gradients of both sides sum to about 0.
constexpr double kLargestSum = 2.6e154;

// The unit of a channel whose absolute values sum up to `total` at most, a finite number.
double channel_unit(double total, int count_bits) {
  // One bit for the rounding errors of the samples in the sum.
  const int bits = std::min(50, 62 - count_bits) - 1;
  if (!(total > 0.0)) return 1.0;
  return std::max(std::ldexp(1.0, std::ilogb(total) + 1 - bits), 0x1p-1000);
}

}  // namespace

QuantizedGradients::QuantizedGradients(index_t n_samples, const double* weight, index_t n_outputs,
                                       const SampleTotals& totals)
    : n_samples_(n_samples),
      weight_(weight),
      n_outputs_(n_outputs),
      count_bits_(bits_of(totals.n_samples)),
      root_of_weight_(std::sqrt(totals.weight)),
      gradient_units_(n_outputs, 1.0) {
  if (weight != nullptr) weight_unit_ = channel_unit(totals.weight, count_bits_);
}

bool QuantizedGradients::set_gradients(const double* gradient, const DerivativeScale& scale) {
  gradient_ = gradient;
  bool any = false;
  for (index_t k = 0; k < n_outputs_; ++k) {
    const double bound = scale.gradient[k].bound();
    if (!(bound * root_of_weight_ < kLargestSum))
      throw std::invalid_argument(
          "squares of sums of gradients overflow: the targets, init_score, sample_weight or learning_rate "
          "are too large");
    gradient_units_[k] = channel_unit(bound, count_bits_);
    any |= bound > 0.0;
  }
  return any;
}

void QuantizedGradients::write(index_t channel, index_t begin, index_t end, std::int64_t* out) const {
  const std::int64_t one = std::int64_t{1} << count_bits_;
  if (channel == n_outputs_) {
    const double factor = 1.0 / weight_unit_;
    for (index_t i = begin; i < end; ++i) *out++ = rounded(weight_[i] * factor) * one + 1;
    return;
  }
  const double factor = 1.0 / gradient_units_[channel];
  const double* g = gradient_ + channel * n_samples_;
  if (weight_ == nullptr) {
    for (index_t i = begin; i < end; ++i) *out++ = rounded(g[i] * factor) * one + 1;
  } else {
    for (index_t i = begin; i < end; ++i) *out++ = rounded(weight_[i] * g[i] * factor) * one;
  }
}

}  // namespace fctree::symmetric
