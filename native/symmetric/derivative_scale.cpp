#include "symmetric/derivative_scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fctree::symmetric {

namespace {

// Of w v; v null for 1.
int largest_exponent(const double* value, const double* weight, index_t begin, index_t end) {
  if (value == nullptr && weight == nullptr) return ExponentCounts::exponent_of(1.0);
  int largest = 0;
  for (index_t i = begin; i < end; ++i) {
    const double w = weight == nullptr ? 1.0 : weight[i];
    const int e = ExponentCounts::exponent_of(value == nullptr ? w : w * value[i]);
    largest = e > largest ? e : largest;
  }
  return largest;
}

int largest_square(const double* gradient, const double* weight, index_t begin, index_t end) {
  int largest = 0;
  if (weight == nullptr) {
    // Of the largest gradient: squares, rounded, grow with it.
    std::int64_t most = 0;
    for (index_t i = begin; i < end; ++i) {
      std::int64_t bits;
      const double magnitude = std::abs(gradient[i]);
      std::memcpy(&bits, &magnitude, sizeof bits);
      most = std::max(most, bits);
    }
    double magnitude;
    std::memcpy(&magnitude, &most, sizeof magnitude);
    return ExponentCounts::exponent_of(squared_term(magnitude, 1.0));
  }
  for (index_t i = begin; i < end; ++i)
    largest = std::max(largest, ExponentCounts::exponent_of(squared_term(gradient[i], weight[i])));
  return largest;
}

}  // namespace

void DerivativeScale::merge(const DerivativeScale& other) {
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    gradient[k].merge(other.gradient[k]);
    hessian[k] = std::max(hessian[k], other.hessian[k]);
  }
  square = std::max(square, other.square);
  n_samples += other.n_samples;
}

double DerivativeScale::share_that_tells() const {
  int largest = 0;
  for (const ExponentCounts& of_output : gradient) largest = std::max(largest, of_output.largest());
  double n = 0.0, sum = 0.0, squares = 0.0;
  for (const ExponentCounts& of_output : gradient)
    for (int e = 0; e <= largest; ++e) {
      const double count = static_cast<double>(of_output.counts()[e]);
      if (count == 0.0) continue;
      const double power = e == 0 ? 0.0 : std::ldexp(1.0, e - largest);
      n += count;
      sum += count * 1.5 * power;
      squares += count * 7.0 / 3.0 * power * power;
    }
  return squares > 0.0 ? sum * sum / (n * squares) : 1.0;
}

DerivativeScale find_scale(const ScoredSamples& s, const Derivatives& d, index_t begin,
                           index_t end) {
  DerivativeScale scale;
  scale.n_samples = end - begin;
  scale.gradient.resize(s.n_outputs);
  for (index_t k = 0; k < s.n_outputs; ++k) {
    const double* g = d.gradient + k * s.n_samples;
    const double* h = d.hessian == nullptr ? nullptr : d.hessian + k * s.n_samples;
    const double* w = s.weight;
    if (w == nullptr)
      scale.gradient[k].add(begin, end, [&](index_t i) { return g[i]; });
    else
      scale.gradient[k].add(begin, end, [&](index_t i) { return w[i] * g[i]; });
    scale.hessian.push_back(largest_exponent(h, w, begin, end));
    scale.square = std::max(scale.square, largest_square(g, w, begin, end));
  }
  return scale;
}

}  // namespace fctree::symmetric
