// Gradients and weights as fixed-point numbers. A channel is a column of them, a number for each sample, that
// histograms add up: one for each output's gradient and, with sample weights, one for the weight.
//
// A channel's value of a sample is (round(w g / unit) << count_bits) + 1, or without weights
// (round(g / unit) << count_bits) + 1: a sum over samples has their number in the low bits and
// their gradient above. With sample weights a further channel carries w itself and
// the count, and gradients have 0 in the low bits. Units are powers of two such that the sum of
// all absolute values stays below 2^min(50, 62 - count_bits): sums are exact integers in
// any order, and convert to double exactly. That sum is bounded by counting exponents
// (core/exact_sum.hpp), so units do not depend on the order of the samples either. A gradient is rounded to
// 2^-(48 - log2 n) of the mean absolute gradient or finer for n < 2^12, and to 2^-(59 - 2 log2 n)
// of it beyond.
#pragma once

#include <vector>

#include "symmetric/derivative_scale.hpp"

namespace fctree::symmetric {

// The samples of all places (core/collective.hpp).
struct SampleTotals {
  index_t n_samples;
  double weight;
};

class QuantizedGradients {
 public:
  // Of n_samples here; weight is (n_samples,) or null.
  QuantizedGradients(index_t n_samples, const double* weight, index_t n_outputs, const SampleTotals& totals);

  index_t n_channels() const { return n_outputs_ + (weighted() ? 1 : 0); }
  index_t n_outputs() const { return n_outputs_; }
  bool weighted() const { return weight_unit_ != 0.0; }
  int count_bits() const { return count_bits_; }
  // The number of samples in a sum of the channel with the counts.
  std::int64_t count_of(std::int64_t sum) const {
    return sum & ((std::int64_t{1} << count_bits_) - 1);
  }
  // The channel with the counts, and the units of all (the weight's is 0 without weights).
  index_t count_channel() const { return weighted() ? n_outputs_ : 0; }
  const std::vector<double>& gradient_units() const { return gradient_units_; }
  double weight_unit() const { return weight_unit_; }

  // Chooses the units for these gradients (n_outputs, n_samples); whether any is not 0. Throws
  // std::invalid_argument where squares of their sums overflow.
  bool set_gradients(const double* gradient, const DerivativeScale& scale);
  // The values of `channel` for samples begin .. end.
  void write(index_t channel, index_t begin, index_t end, std::int64_t* out) const;

 private:
  index_t n_samples_;
  const double* weight_;
  index_t n_outputs_;
  int count_bits_;
  double root_of_weight_;
  double weight_unit_ = 0.0;
  std::vector<double> gradient_units_;
  const double* gradient_ = nullptr;
};

}  // namespace fctree::symmetric
