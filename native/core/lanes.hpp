// Vectors of float or double as wide as the instruction set of the translation unit that includes
// this header (only *.isa.cpp do): loads, stores, parts of rows, sums.
#pragma once

#include <cstdint>

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

namespace fctree {
namespace FCTREE_ISA {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

constexpr double kRoundingShift = 6755399441055744.0;  // 1.5 * 2^52, as in exact_sum.hpp

template <class T>
struct Lanes;

template <>
struct Lanes<double> {
  typedef double Vector __attribute__((vector_size(kVectorBytes)));
  typedef double Unaligned
      __attribute__((vector_size(kVectorBytes), aligned(sizeof(double)), may_alias));
  static constexpr int count = kVectorBytes / sizeof(double);
};

template <>
struct Lanes<float> {
  typedef float Vector __attribute__((vector_size(kVectorBytes)));
  typedef float Unaligned
      __attribute__((vector_size(kVectorBytes), aligned(sizeof(float)), may_alias));
  static constexpr int count = kVectorBytes / sizeof(float);
};

template <class T>
inline typename Lanes<T>::Vector load_lanes(const T* p) {
  return *reinterpret_cast<const typename Lanes<T>::Unaligned*>(p);
}
template <class T>
inline void store_lanes(T* p, typename Lanes<T>::Vector v) {
  *reinterpret_cast<typename Lanes<T>::Unaligned*>(p) = v;
}
template <class T>
inline typename Lanes<T>::Vector set_lanes(T value) {
  return value - typename Lanes<T>::Vector{};
}

// Lane j of rows[i] and lane i of rows[j] change places: at each step pairs of vectors exchange halves of
// blocks of `distance` lanes.
template <int distance = 1, class V, int lanes>
inline void transpose_lanes(V (&rows)[lanes]) {
  if constexpr (distance < lanes) {
#pragma GCC unroll 16
    for (int r = 0; r < lanes; ++r) {
      if (r & distance) continue;
      const V first = rows[r], second = rows[r + distance];
#if defined(__clang__)
      for (int lane = 0; lane < lanes; ++lane) {
        const bool upper = lane & distance;
        rows[r][lane] = upper ? second[lane - distance] : first[lane];
        rows[r + distance][lane] = upper ? second[lane] : first[lane + distance];
      }
#else
      decltype(first > second) low{}, high{};
      for (int lane = 0; lane < lanes; ++lane) {
        const bool upper = lane & distance;
        low[lane] = upper ? lane - distance + lanes : lane;
        high[lane] = upper ? lane + lanes : lane + distance;
      }
      rows[r] = __builtin_shuffle(first, second, low);
      rows[r + distance] = __builtin_shuffle(first, second, high);
#endif
    }
    transpose_lanes<2 * distance>(rows);
  }
}

// The first `count` < Lanes<T>::count elements at p, then zeros; reads nothing beyond them.
inline Lanes<float>::Vector load_first(const float* p, int count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1u), p);
#elif defined(__AVX2__)
  alignas(32) static const std::int32_t masks[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_maskload_ps(
      p, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(masks + 8 - count)));
#else
  Lanes<float>::Vector v{};
  for (int i = 0; i < count; ++i) v[i] = p[i];
  return v;
#endif
}
inline Lanes<double>::Vector load_first(const double* p, int count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1u), p);
#elif defined(__AVX2__)
  alignas(32) static const std::int64_t masks[8] = {-1, -1, -1, -1};
  return _mm256_maskload_pd(
      p, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(masks + 4 - count)));
#else
  Lanes<double>::Vector v{};
  for (int i = 0; i < count; ++i) v[i] = p[i];
  return v;
#endif
}

template <class T>
inline void store_first(T* p, typename Lanes<T>::Vector v, int count) {
  for (int i = 0; i < count; ++i) p[i] = v[i];
}

template <class T>
inline T sum_lanes(typename Lanes<T>::Vector v) {
  T total = T(0);
  for (int i = 0; i < Lanes<T>::count; ++i) total += v[i];
  return total;
}

// Half of the lanes onto the other, until one is left.
template <>
inline double sum_lanes<double>(Lanes<double>::Vector v) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_pd(v);
#elif defined(__AVX2__)
  const __m128d half = _mm256_castpd256_pd128(v) + _mm256_extractf128_pd(v, 1);
  return half[0] + half[1];
#else
  return v[0] + v[1];
#endif
}

// out[0 .. 3] = the sums over the lanes of a, b, c and d, which cost little more than one.
inline void sum_four(Lanes<float>::Vector a, Lanes<float>::Vector b, Lanes<float>::Vector c,
                     Lanes<float>::Vector d, float* out) {
#if defined(__AVX512F__)
  const __m512 ab = _mm512_unpacklo_ps(a, b) + _mm512_unpackhi_ps(a, b);
  const __m512 cd = _mm512_unpacklo_ps(c, d) + _mm512_unpackhi_ps(c, d);
  const __m512d low = _mm512_unpacklo_pd((__m512d)ab, (__m512d)cd);
  const __m512d high = _mm512_unpackhi_pd((__m512d)ab, (__m512d)cd);
  const __m512 all = (__m512)low + (__m512)high;
  const __m256 half =
      _mm512_castps512_ps256(all) + (__m256)_mm512_extractf64x4_pd((__m512d)all, 1);
  _mm_storeu_ps(out, _mm256_castps256_ps128(half) + _mm256_extractf128_ps(half, 1));
#elif defined(__AVX2__)
  const __m256 ab = _mm256_unpacklo_ps(a, b) + _mm256_unpackhi_ps(a, b);
  const __m256 cd = _mm256_unpacklo_ps(c, d) + _mm256_unpackhi_ps(c, d);
  const __m256 all = (__m256)_mm256_unpacklo_pd((__m256d)ab, (__m256d)cd) +
                     (__m256)_mm256_unpackhi_pd((__m256d)ab, (__m256d)cd);
  _mm_storeu_ps(out, _mm256_castps256_ps128(all) + _mm256_extractf128_ps(all, 1));
#else
  out[0] = sum_lanes<float>(a);
  out[1] = sum_lanes<float>(b);
  out[2] = sum_lanes<float>(c);
  out[3] = sum_lanes<float>(d);
#endif
}
// The same bytes as sum_lanes of each.
inline void sum_four(Lanes<double>::Vector a, Lanes<double>::Vector b, Lanes<double>::Vector c,
                     Lanes<double>::Vector d, double* out) {
#if defined(__AVX512F__)
  const __m512d ac = _mm512_shuffle_f64x2(a, c, 0x44) + _mm512_shuffle_f64x2(a, c, 0xEE);
  const __m512d bd = _mm512_shuffle_f64x2(b, d, 0x44) + _mm512_shuffle_f64x2(b, d, 0xEE);
  const __m512d all = _mm512_shuffle_f64x2(ac, bd, 0x88) + _mm512_shuffle_f64x2(ac, bd, 0xDD);
  const __m256d halves_ac = _mm512_castpd512_pd256(all), halves_bd = _mm512_extractf64x4_pd(all, 1);
#elif defined(__AVX2__)
  const __m256d halves_ac = _mm256_permute2f128_pd(a, c, 0x20) + _mm256_permute2f128_pd(a, c, 0x31);
  const __m256d halves_bd = _mm256_permute2f128_pd(b, d, 0x20) + _mm256_permute2f128_pd(b, d, 0x31);
#endif
#if defined(__AVX2__)
  _mm256_storeu_pd(out, _mm256_unpacklo_pd(halves_ac, halves_bd) + _mm256_unpackhi_pd(halves_ac, halves_bd));
#else
  out[0] = sum_lanes<double>(a);
  out[1] = sum_lanes<double>(b);
  out[2] = sum_lanes<double>(c);
  out[3] = sum_lanes<double>(d);
#endif
}

}  // namespace FCTREE_ISA
}  // namespace fctree
