#include "symmetric/quantized_gradients.hpp"

#include <algorithm>
#include <cmath>

#include "core/exact_sum.hpp"

namespace fctree::symmetric {

int count_bits_for(index_t n) { return bits_of(n); }

double channel_unit(double total, int count_bits) {
  // One bit for the rounding errors of the samples in the sum.
  const int bits = std::min(50, 62 - count_bits) - 1;
  if (!(total > 0.0)) return 1.0;
  const int exponent = std::isfinite(total) ? std::ilogb(total) : 1024;
  return std::max(std::ldexp(1.0, exponent + 1 - bits), 0x1p-1000);
}

QuantizedGradients::QuantizedGradients(const Tiles& tiles, const double* weight, index_t n_outputs)
    : tiles_(tiles),
      weight_(weight),
      n_outputs_(n_outputs),
      count_bits_(count_bits_for(tiles.n_samples())),
      gradient_units_(n_outputs, 1.0) {
  if (weight == nullptr) return;
  const double total = exact_sum(tiles.n_samples(), [&](index_t i) { return weight[i]; });
  weight_unit_ = channel_unit(total, count_bits_);
}

QuantizedGradients::QuantizedGradients(const Tiles& tiles, const double* weight, const ChannelUnits& units)
    : tiles_(tiles),
      weight_(weight),
      n_outputs_(static_cast<index_t>(units.gradient.size())),
      count_bits_(units.count_bits),
      weight_unit_(units.weight),
      gradient_units_(units.gradient) {}

void QuantizedGradients::set_gradients(const double* gradient, const ChannelUnits& units) {
  gradient_ = gradient;
  gradient_units_ = units.gradient;
}

bool QuantizedGradients::set_gradients(const double* gradient, const Execution& execution) {
  gradient_ = gradient;
  const index_t n = tiles_.n_samples();
  std::vector<ExponentCounts> counts(tiles_.count() * n_outputs_);
  parallel_for(execution, tiles_.count(), [&](index_t tile) {
    for (index_t k = 0; k < n_outputs_; ++k) {
      const double* g = gradient + k * n;
      ExponentCounts& found = counts[tile * n_outputs_ + k];
      const index_t begin = tiles_.begin(tile), end = tiles_.end(tile);
      if (weight_ == nullptr)
        found.add(begin, end, [&](index_t i) { return g[i]; });
      else
        found.add(begin, end, [&](index_t i) { return weight_[i] * g[i]; });
    }
  });
  bool any = false;
  for (index_t k = 0; k < n_outputs_; ++k) {
    ExponentCounts all;
    for (index_t tile = 0; tile < tiles_.count(); ++tile)
      all.merge(counts[tile * n_outputs_ + k]);
    gradient_units_[k] = channel_unit(all.bound(), count_bits_);
    any |= all.bound() > 0.0;
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
  const double* g = gradient_ + channel * tiles_.n_samples();
  if (weight_ == nullptr) {
    for (index_t i = begin; i < end; ++i) *out++ = rounded(g[i] * factor) * one + 1;
  } else {
    for (index_t i = begin; i < end; ++i) *out++ = rounded(weight_[i] * g[i] * factor) * one;
  }
}

}  // namespace fctree::symmetric
