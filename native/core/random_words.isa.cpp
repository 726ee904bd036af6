// The kernels of core/random_words.hpp, compiled once per instruction set.
#include "core/random_words.hpp"

#include "core/simd.hpp"

namespace fctree::FCTREE_ISA {

namespace {

typedef std::uint64_t Words __attribute__((vector_size(kLanes * sizeof(std::uint64_t))));
typedef std::uint32_t Halves __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));

// Of the low halves; whatever the high ones are.
inline Words product(Words a, Words b) {
#if defined(__AVX512F__)
  return (Words)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Words)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (Words)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
#endif
}

inline Words all(std::uint32_t word) { return Words{} + word; }

inline std::size_t n_lanes(std::int64_t left) { return static_cast<std::size_t>(left < kLanes ? left : kLanes); }

// Words are the low halves of lanes.
inline Halves words_at(const RandomAddress& address, Words second, Words third) {
  const Words first_factor = all(kPhiloxFactors[0]), third_factor = all(kPhiloxFactors[1]);
  Words x0 = all(address.counter[0]), x1 = second, x2 = third, x3 = all(address.counter[3]);
  std::uint32_t k0 = address.key[0], k1 = address.key[1];
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const Words p0 = product(x0, first_factor), p1 = product(x2, third_factor);
    x0 = (p1 >> 32) ^ x1 ^ all(k0);
    x2 = (p0 >> 32) ^ x3 ^ all(k1);
    x1 = p1;
    x3 = p0;
    k0 += kPhiloxKeySteps[0];
    k1 += kPhiloxKeySteps[1];
  }
  return __builtin_convertvector(x0, Halves);
}

void first_words(const RandomAddress& address, std::int64_t n, std::uint32_t* words) {
  const Words second = all(address.counter[1]);
  Words third = all(address.counter[2]);
  for (int lane = 0; lane < kLanes; ++lane) third[lane] += static_cast<std::uint64_t>(lane);
  for (std::int64_t i = 0; i < n; i += kLanes, third += kLanes) {
    const Halves found = words_at(address, second, third);
    __builtin_memcpy(words + i, &found, n_lanes(n - i) * sizeof(std::uint32_t));
  }
}

void first_words_at(const RandomAddress& address, const std::uint64_t* places, std::int64_t n, std::uint32_t* words) {
  for (std::int64_t i = 0; i < n; i += kLanes) {
    Words place{};
    __builtin_memcpy(&place, places + i, n_lanes(n - i) * sizeof(std::uint64_t));
    const Halves found = words_at(address, place, place >> 32);
    __builtin_memcpy(words + i, &found, n_lanes(n - i) * sizeof(std::uint32_t));
  }
}

}  // namespace

extern const RandomKernels random_table;
const RandomKernels random_table = {first_words, first_words_at};

}  // namespace fctree::FCTREE_ISA
