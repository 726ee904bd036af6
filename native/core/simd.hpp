// Vectors of doubles as wide as the instruction set of the translation unit that includes
// this header (only *.isa.cpp do). GCC's and Clang's vector extension gives arithmetic;
// loading the last few elements of a row, which it lacks, is here.
//
// Everything is in the namespace FCTREE_ISA, so that the copies for different instruction
// sets are different functions; for the same reason a *.isa.cpp includes no template of
// the standard library or Eigen, whose shared instances the linker could take from the
// wrong copy.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace fctree {
namespace FCTREE_ISA {

#if defined(__AVX512F__)
constexpr int kLanes = 8;
#elif defined(__AVX2__)
constexpr int kLanes = 4;
#else
constexpr int kLanes = 2;
#endif

typedef double Pack __attribute__((vector_size(kLanes * sizeof(double))));
typedef double UnalignedPack
    __attribute__((vector_size(kLanes * sizeof(double)), aligned(sizeof(double)), may_alias));

inline Pack load(const double* p) { return *reinterpret_cast<const UnalignedPack*>(p); }
inline void store(double* p, Pack v) { *reinterpret_cast<UnalignedPack*>(p) = v; }
inline Pack broadcast(double v) { return v - Pack{}; }

// The first `count` < kLanes elements at p, then zeros; reads nothing beyond them.
inline Pack load_partial(const double* p, int count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1u), p);
#elif defined(__AVX2__)
  alignas(32) static const std::int64_t masks[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
  const __m256i mask =
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(masks + kLanes - count));
  return _mm256_maskload_pd(p, mask);
#else
  Pack v{};
  for (int i = 0; i < count; ++i) v[i] = p[i];
  return v;
#endif
}

inline Pack square_root(Pack v) {
#if defined(__AVX512F__)
  return _mm512_sqrt_pd(v);
#elif defined(__AVX2__)
  return _mm256_sqrt_pd(v);
#else
  for (int i = 0; i < kLanes; ++i) v[i] = __builtin_sqrt(v[i]);
  return v;
#endif
}

inline double sum(Pack v) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_pd(v);
#else
  double total = 0.0;
  for (int i = 0; i < kLanes; ++i) total += v[i];
  return total;
#endif
}

// sum_j a[j] b[j]; the order of the additions depends on n alone.
inline double dot(const double* a, const double* b, std::int64_t n) {
  Pack even{}, odd{};
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
    even += load(a + j) * load(b + j);
    odd += load(a + j + kLanes) * load(b + j + kLanes);
  }
  if (j + kLanes <= n) {
    even += load(a + j) * load(b + j);
    j += kLanes;
  }
  if (j < n) {
    const int rest = static_cast<int>(n - j);
    odd += load_partial(a + j, rest) * load_partial(b + j, rest);
  }
  return sum(even + odd);
}

}  // namespace FCTREE_ISA
}  // namespace fctree
