// The operations that the pointwise kernels need of vectors (core/lanes.hpp): the vector side of
// scalars.hpp.
#pragma once

#include "core/lanes.hpp"

namespace fctree::kernels::FCTREE_ISA {

using namespace fctree::FCTREE_ISA;

// Stores to an aligned address that bypass the caches where the instruction set can.
inline void stream_lanes(double* p, Lanes<double>::Vector v) {
#if defined(__AVX512F__)
  _mm512_stream_pd(p, v);
#elif defined(__AVX2__)
  _mm256_stream_pd(p, v);
#elif defined(__SSE2__)
  _mm_stream_pd(p, v);
#else
  store_lanes(p, v);
#endif
}
inline void stream_lanes(float* p, Lanes<float>::Vector v) {
#if defined(__AVX512F__)
  _mm512_stream_ps(p, v);
#elif defined(__AVX2__)
  _mm256_stream_ps(p, v);
#elif defined(__SSE2__)
  _mm_stream_ps(p, v);
#else
  store_lanes(p, v);
#endif
}
// Streamed stores of this thread are seen by others before what it writes next.
inline void finish_streaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

template <class V>
struct Number;

// Comparisons give a vector of all-ones or all-zeros integers, except with AVX-512, which
// keeps masks in registers of their own.
template <class T>
struct VectorNumber {
  using Scalar = T;
  using V = typename Lanes<T>::Vector;
  static V set(T value) { return set_lanes<T>(value); }
#if !defined(__AVX512F__)
  using Mask = decltype(V{} > V{});
  static Mask greater(V a, V b) { return a > b; }
  static V select(Mask mask, V yes, V no) { return mask ? yes : no; }
  static V larger(V a, V b) { return a > b ? a : b; }
  static V absolute(V v) { return v < V{} ? -v : v; }
#endif
};

template <>
struct Number<Lanes<double>::Vector> : VectorNumber<double> {
#if defined(__AVX512F__)
  using Mask = __mmask8;
  static Mask greater(V a, V b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
  static V select(Mask mask, V yes, V no) { return _mm512_mask_blend_pd(mask, no, yes); }
  static V larger(V a, V b) { return _mm512_maskz_max_pd(0xff, a, b); }
  static V absolute(V v) { return _mm512_abs_pd(v); }
  // 14 bits from the table; the series of (1 - e)^(-1/2) brings them to 54.
  static V inverse_root(V v) {
    const V guess = _mm512_maskz_rsqrt14_pd(0xff, v);
    const V e = 1.0 - (v * guess) * guess;
    return guess + (guess * e) * (0.5 + e * (0.375 + e * 0.3125));
  }
#elif defined(__AVX2__)
  static V inverse_root(V v) { return 1.0 / _mm256_sqrt_pd(v); }
#else
  static V inverse_root(V v) {
    for (int i = 0; i < Lanes<double>::count; ++i) v[i] = __builtin_sqrt(v[i]);
    return 1.0 / v;
  }
#endif
};

template <>
struct Number<Lanes<float>::Vector> : VectorNumber<float> {
#if defined(__AVX512F__)
  using Mask = __mmask16;
  static Mask greater(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
  static V select(Mask mask, V yes, V no) { return _mm512_mask_blend_ps(mask, no, yes); }
  static V larger(V a, V b) { return _mm512_maskz_max_ps(0xffff, a, b); }
  static V absolute(V v) { return _mm512_abs_ps(v); }
  static V inverse_root(V v) {
    const V guess = _mm512_maskz_rsqrt14_ps(0xffff, v);
    const V e = 1.0f - (v * guess) * guess;
    return guess + (guess * e) * 0.5f;
  }
#elif defined(__AVX2__)
  static V inverse_root(V v) { return 1.0f / _mm256_sqrt_ps(v); }
#else
  static V inverse_root(V v) {
    for (int i = 0; i < Lanes<float>::count; ++i) v[i] = __builtin_sqrtf(v[i]);
    return 1.0f / v;
  }
#endif
};

}  // namespace fctree::kernels::FCTREE_ISA
