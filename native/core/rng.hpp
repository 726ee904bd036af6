// Random numbers as functions of their purpose: a counter-based generator
// (Philox4x32-10: Salmon, Moraes, Dror and Shaw, 2011) keyed by a seed and a purpose and addressed
// by index. A draw depends neither on the order of the draws nor on threads.
#pragma once

#include <array>
#include <cstdint>

namespace fctree {

enum class Purpose : std::uint32_t {
  row_sample = 1,
  feature_sample,
  candidate_noise,
  threshold_rows,
  soft_weights = 9,
  sample_order,
  quantile_sample,
  searched_rows,
};

// SplitMix64 (Steele, Lea and Flood, 2014): the step between its states, and its finaliser, a bijection that
// spreads all bits.
constexpr std::uint64_t kMixStep = 0x9E3779B97F4A7C15u;
inline std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
  return bits ^ bits >> 31;
}

// Of words, the ends included.
struct WordRange {
  std::uint32_t first = 0, last = 0xFFFFFFFFu;
  bool has(std::uint32_t word) const { return word >= first && word <= last; }
};

class Random {
 public:
  Random(std::uint64_t seed, Purpose purpose);

  // The four words at (a, b, c), each uniform over 32 bits.
  std::array<std::uint32_t, 4> words(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  // The first of them at (a, b, c), (a, b, c + 1), .., n in all, which is faster.
  void first_words(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::int64_t n, std::uint32_t* out) const;
  // The same at (a, the low half, the high half) of each of n places.
  void first_words_at(std::uint32_t a, const std::uint64_t* places, std::int64_t n, std::uint32_t* out) const;
  // Uniform on the open interval (0, 1): 52 bits, odd multiples of 2^-53.
  double uniform(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  double normal(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  // normal(a, b, c) if it is above `least`; else that or -inf, which is faster.
  double normal_above(double least, std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  // Standard Gumbel, -log(-log u): its argmax over s_i / beta + gumbel_i is a softmax draw.
  double gumbel(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  // Uniform numbers below a share have no larger first words than this, and all that have smaller ones are below it.
  static std::uint32_t word_of_uniform(double share);
  // Draws above `least` have first words in these ranges.
  static WordRange words_of_normal_above(double least);
  static WordRange words_of_gumbel_above(double least);

  // No draw is larger in absolute value, as no uniform number is closer to 0 or 1.
  static constexpr double kLargestNormal = 8.6;
  static constexpr double kLargestGumbel = 37.5;

 private:
  std::uint32_t key_[2];
  std::uint32_t purpose_;
};

}  // namespace fctree
