// The vectors of doubles of lanes.hpp under shorter names, with roots, sums and products.
//
// Everything is in the namespace FCTREE_ISA, so that the copies for different instruction
// sets are different functions; for the same reason a *.isa.cpp includes no template of
// the standard library or Eigen, whose shared instances the linker could take from the
// wrong copy.
#pragma once

#include "core/lanes.hpp"

namespace fctree {
namespace FCTREE_ISA {

constexpr int kLanes = Lanes<double>::count;

using Pack = Lanes<double>::Vector;

inline Pack load(const double* p) { return load_lanes(p); }
inline void store(double* p, Pack v) { store_lanes(p, v); }
inline Pack broadcast(double v) { return set_lanes(v); }

// As many integers.
typedef std::int64_t IntPack __attribute__((vector_size(kLanes * sizeof(std::int64_t))));
typedef std::int64_t UnalignedIntPack __attribute__((
    vector_size(kLanes * sizeof(std::int64_t)), aligned(sizeof(std::int64_t)), may_alias));
inline IntPack load_int(const std::int64_t* p) {
  return *reinterpret_cast<const UnalignedIntPack*>(p);
}
inline void store_int(std::int64_t* p, IntPack v) {
  *reinterpret_cast<UnalignedIntPack*>(p) = v;
}
inline IntPack broadcast_int(std::int64_t v) { return v - IntPack{}; }

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

inline double sum(Pack v) { return sum_lanes<double>(v); }

// out[r] = dot(a, b[r], n), the same bytes: a is read once.
inline void dot_four(const double* a, const double* const b[4], std::int64_t n, double* out) {
  Pack even[4] = {}, odd[4] = {};
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
    const Pack first = load(a + j), second = load(a + j + kLanes);
    for (int r = 0; r < 4; ++r) {
      even[r] += first * load(b[r] + j);
      odd[r] += second * load(b[r] + j + kLanes);
    }
  }
  if (j + kLanes <= n) {
    const Pack first = load(a + j);
    for (int r = 0; r < 4; ++r) even[r] += first * load(b[r] + j);
    j += kLanes;
  }
  if (j < n) {
    const int rest = static_cast<int>(n - j);
    const Pack first = load_first(a + j, rest);
    for (int r = 0; r < 4; ++r) odd[r] += first * load_first(b[r] + j, rest);
  }
  sum_four(even[0] + odd[0], even[1] + odd[1], even[2] + odd[2], even[3] + odd[3], out);
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
    odd += load_first(a + j, rest) * load_first(b + j, rest);
  }
  return sum(even + odd);
}

}  // namespace FCTREE_ISA
}  // namespace fctree
