// The angle that every kernel here is made of, without branches, for numbers and vectors alike.
//
// Where |c| is near 1, what matters is 1 - |c|, which the caller passes separately: computed from
// c it would lose its digits.
#pragma once

#include "kernels/scalars.hpp"

namespace fctree::kernels::FCTREE_ISA {

// Coefficients of the minimax polynomial (Remez' algorithm with 60 digits) of
// (asin(r) / r - 1) / z, z = r^2 <= 1/4, lowest degree first. Error of asin(r) / r: 5e-17, and
// 2e-8 for float.
template <class T>
struct Arcsine;

template <>
struct Arcsine<double> {
  static constexpr int size = 12;
  static FCTREE_DEVICE double coefficient(int k) {
    constexpr double table[size] = {
        0.16666666666666645949,   0.075000000000233799853, 0.044642857099206753704,
        0.03038194763206102477,   0.022372039098498688634, 0.017355420198028686973,
        0.013927777738777250339,  0.01188958160406194981,  0.0077349855400353319274,
        0.016239065070864729283,  -0.011093488251635447274, 0.028420859157262182801};
    return table[k];
  }
};

template <>
struct Arcsine<float> {
  static constexpr int size = 5;
  static FCTREE_DEVICE float coefficient(int k) {
    constexpr float table[size] = {0.16666673150830722437f, 0.074987592927827442617f,
                                   0.045020765617063621147f, 0.026429296445215670682f,
                                   0.03833752383379466154f};
    return table[k];
  }
};

// (asin(r) / r - 1) / z
template <class V>
FCTREE_DEVICE inline V arcsine_series(V z) {
  using N = Number<V>;
  using C = Arcsine<typename N::Scalar>;
  V sum = N::set(C::coefficient(C::size - 1));
  for (int k = C::size - 2; k >= 0; --k) sum = sum * z + C::coefficient(k);
  return sum;
}

template <class T>
struct Circle;
template <>
struct Circle<double> {
  static constexpr double inverse_pi = 0.31830988618379067154;
};
template <>
struct Circle<float> {
  static constexpr float inverse_pi = 0.31830988618379067154f;
};

// acos(m) / pi for m in [0, 1] and half = (1 - m) / 2 > 0, with a small relative error at both
// ends. For m > 1/2, acos(m) = 2 asin(sqrt(half)).
template <class V>
FCTREE_DEVICE inline V arc_share(V m, V half) {
  using N = Number<V>;
  using T = typename N::Scalar;
  const auto big = N::greater(m, N::set(T(0.5)));
  const V z = N::select(big, half, m * m);
  const V r = N::select(big, half * N::inverse_root(half), m);
  const V slope = N::select(big, N::set(T(2) * Circle<T>::inverse_pi),
                            N::set(-Circle<T>::inverse_pi));
  const V start = N::select(big, N::set(T(0)), N::set(T(0.5)));
  return start + (r * slope) * (T(1) + z * arcsine_series(z));
}

// The inputs of a kernel for two samples: the product of their normalised rows; the rows' squared
// lengths in the same arithmetic, and 1 minus these (gap, exactly); the product of their factors
// (their lengths, for the kernels that need them).
template <class V>
struct Pair {
  V product, self_left, self_right, gap_left, gap_right, factor;

  FCTREE_DEVICE V gap() const { return gap_left + gap_right; }
  // (1 - |c|) / 2 = (|u -+ v|^2 + gaps) / 4, never below the bound by the gaps.
  FCTREE_DEVICE V half_complement(V m) const {
    using N = Number<V>;
    using T = typename N::Scalar;
    const V apart = (self_left - m) + (self_right - m);
    return (N::larger(apart, N::set(T(0))) + gap()) * T(0.25);
  }
};

// The inputs of all tree kernels for a pair: t, and k = 2 pi g = c / sqrt(h (1 - h)), where
// h = (1 - |c|) / 2, for 1 - c^2 = 4 h (1 - h). The kernels absorb the factor 1 / (2 pi) into a
// constant.
template <class V>
struct Angle {
  V t, k, inverse_root;

  FCTREE_DEVICE explicit Angle(const Pair<V>& pair) {
    using N = Number<V>;
    using T = typename N::Scalar;
    const V m = N::absolute(pair.product);
    const V half = pair.half_complement(m);
    const V arc = arc_share(m, half);
    t = N::select(N::greater(pair.product, N::set(T(0))), T(1) - arc, arc);
    inverse_root = N::inverse_root(half - half * half);
    k = pair.product * inverse_root;
  }
};

}  // namespace fctree::kernels::FCTREE_ISA
