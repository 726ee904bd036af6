// Powers without branches, for numbers and vectors alike: by an integer, and exp(-y).
#pragma once

#include <cstdint>

#include "kernels/scalars.hpp"

namespace fctree::kernels::FCTREE_ISA {

// factor * base^exponent by squaring; relative error exponent * eps at most.
template <class V>
FCTREE_DEVICE inline V integer_power(V base, std::int64_t exponent,
                                     typename Number<V>::Scalar factor) {
  V result = Number<V>::set(factor);
  for (; exponent > 1; exponent >>= 1) {
    if (exponent & 1) result = result * base;
    base = base * base;
  }
  return exponent == 1 ? result * base : result;
}

// Constants of exp(-y) for a type: the longest y, bits of its whole multiple of log 2, terms of the series,
// and what rounds to integers when it is added and taken off.
template <class T>
struct Exponential;
template <>
struct Exponential<double> {
  static constexpr double longest = 708.0, rounding = 0x1.8p52;
  static constexpr double log2_high = 0x1.62e42fee00000p-1, log2_low = 0x1.a39ef35793c76p-33;
  static constexpr int n_bits = 10, n_terms = 13;
};
template <>
struct Exponential<float> {
  static constexpr float longest = 87.0f, rounding = 0x1.8p23f;
  static constexpr float log2_high = 0x1.62e000p-1f, log2_low = 0x1.0bfbe8p-15f;
  static constexpr int n_bits = 7, n_terms = 7;
};

// exp(-y) for y >= 0, within 4 units in the last place; y beyond the type's range counts as its end.
// y = n log 2 + r, |r| <= (log 2) / 2; the factor 2^-n by the bits of n.
template <class V>
FCTREE_DEVICE inline V negative_exponential(V y) {
  using N = Number<V>;
  using T = typename N::Scalar;
  using E = Exponential<T>;
  constexpr double powers[] = {0x1p-1,  0x1p-2,  0x1p-4,   0x1p-8,   0x1p-16,
                               0x1p-32, 0x1p-64, 0x1p-128, 0x1p-256, 0x1p-512};
  y = N::select(N::greater(y, N::set(E::longest)), N::set(E::longest), y);
  V n = (y * T(1.44269504088896340736) + E::rounding) - E::rounding;
  const V r = (y - n * E::log2_high) - n * E::log2_low;
  V value = N::set(T(1));
  for (int k = E::n_terms; k >= 1; --k) value = T(1) - (r * value) * (T(1) / T(k));
  for (int bit = E::n_bits - 1; bit >= 0; --bit) {
    const T size = T(1 << bit);
    const auto has_bit = N::greater(n, N::set(size - T(0.5)));
    value = N::select(has_bit, value * T(powers[bit]), value);
    n = N::select(has_bit, n - size, n);
  }
  return value;
}

}  // namespace fctree::kernels::FCTREE_ISA
