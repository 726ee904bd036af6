#include "boosting/channels.hpp"

#include <algorithm>
#include <cmath>

namespace fctree {

namespace {

int bits_of(index_t n) {
  int bits = 0;
  for (; n > 0; n >>= 1) ++bits;
  return bits;
}

// To the nearest integer, without a branch or a call; exact for |x| < 2^51.
inline std::int64_t rounded(double x) {
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52
  return static_cast<std::int64_t>((x + kShift) - kShift);
}

}  // namespace

Channels::Channels(const Tiles& tiles, const double* weight, index_t n_outputs)
    : tiles_(tiles),
      weight_(weight),
      n_outputs_(n_outputs),
      count_bits_(bits_of(tiles.n_samples())),
      gradient_units_(n_outputs, 1.0) {
  if (weight == nullptr) return;
  double total = 0.0;
  for (index_t i = 0; i < tiles.n_samples(); ++i) total += weight[i];
  weight_unit_ = unit_for(total);
}

double Channels::unit_for(double total) const {
  // One bit is for what rounding each sample may add to the sum.
  const int bits = std::min(50, 62 - count_bits_) - 1;
  if (!(total > 0.0)) return 1.0;
  return std::max(std::ldexp(1.0, std::ilogb(total) + 1 - bits), 0x1p-1000);
}

bool Channels::set_gradients(const double* gradient, const Execution& execution) {
  gradient_ = gradient;
  const index_t n = tiles_.n_samples();
  std::vector<double> totals(tiles_.count() * n_outputs_, 0.0);
  parallel_for(execution, tiles_.count(), [&](index_t tile) {
    for (index_t k = 0; k < n_outputs_; ++k) {
      const double* g = gradient + k * n;
      double total = 0.0;
      for (index_t i = tiles_.begin(tile); i < tiles_.end(tile); ++i)
        total += std::abs(g[i]) * (weight_ == nullptr ? 1.0 : weight_[i]);
      totals[tile * n_outputs_ + k] = total;
    }
  });
  bool any = false;
  for (index_t k = 0; k < n_outputs_; ++k) {
    double total = 0.0;
    for (index_t tile = 0; tile < tiles_.count(); ++tile) total += totals[tile * n_outputs_ + k];
    gradient_units_[k] = unit_for(total);
    any |= total > 0.0;
  }
  return any;
}

void Channels::write(index_t channel, index_t begin, index_t end, std::int64_t* out) const {
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

}  // namespace fctree
