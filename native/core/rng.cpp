#include "core/rng.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random_words.hpp"

namespace fctree {

namespace {

constexpr double kAboveRounding = 1.0 + 1e-12;

// The word of a share of all words, and so many more.
std::uint32_t word_near(double share, double more) {
  constexpr double kWords = 4294967296.0;
  return static_cast<std::uint32_t>(std::clamp(std::floor(share * kWords) + more, 0.0, kWords - 1.0));
}

double unit_interval(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32 | low) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;  // 2^-53 .. 1 - 2^-53
}

}  // namespace

Random::Random(std::uint64_t seed, Purpose purpose)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      purpose_(static_cast<std::uint32_t>(purpose)) {}

std::array<std::uint32_t, 4> Random::words(std::uint32_t a, std::uint32_t b,
                                           std::uint32_t c) const {
  std::uint32_t x[4] = {a, b, c, purpose_};
  std::uint32_t k0 = key_[0], k1 = key_[1];
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t p0 = std::uint64_t{kPhiloxFactors[0]} * x[0];
    const std::uint64_t p1 = std::uint64_t{kPhiloxFactors[1]} * x[2];
    const std::uint32_t y0 = static_cast<std::uint32_t>(p1 >> 32) ^ x[1] ^ k0;
    const std::uint32_t y2 = static_cast<std::uint32_t>(p0 >> 32) ^ x[3] ^ k1;
    x[1] = static_cast<std::uint32_t>(p1);
    x[3] = static_cast<std::uint32_t>(p0);
    x[0] = y0;
    x[2] = y2;
    k0 += kPhiloxKeySteps[0];
    k1 += kPhiloxKeySteps[1];
  }
  return {x[0], x[1], x[2], x[3]};
}

double Random::uniform(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
  const auto w = words(a, b, c);
  return unit_interval(w[0], w[1]);
}

double Random::normal(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
  return normal_above(-std::numeric_limits<double>::infinity(), a, b, c);
}

void Random::first_words(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::int64_t n, std::uint32_t* out) const {
  random_kernels().first_words({{key_[0], key_[1]}, {a, b, c, purpose_}}, n, out);
}

void Random::first_words_at(std::uint32_t a, const std::uint64_t* places, std::int64_t n, std::uint32_t* out) const {
  random_kernels().first_words_at({{key_[0], key_[1]}, {a, 0, 0, purpose_}}, places, n, out);
}

// Box and Muller: sqrt(-2 log u) cos(2 pi v). Above z > 0 it can only be where u < exp(-x), x = z^2 / 2,
// and that is at most 1 / (1 + x + x^2 / 2 + x^3 / 6).
double Random::normal_above(double least, std::uint32_t a, std::uint32_t b,
                            std::uint32_t c) const {
  const auto w = words(a, b, c);
  const double u = unit_interval(w[0], w[1]);
  const double x = 0.5 * least * least;
  if (least > 0.0 && u * (1.0 + x * (1.0 + x * (0.5 + x / 6.0))) >= kAboveRounding)
    return -std::numeric_limits<double>::infinity();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * M_PI * unit_interval(w[2], w[3]));
}

double Random::gumbel(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
  return -std::log(-std::log(uniform(a, b, c)));
}

// The first word is the first 32 bits of u.
std::uint32_t Random::word_of_uniform(double share) { return word_near(share, 0.0); }

WordRange Random::words_of_normal_above(double least) {
  if (!(least > 0.0)) return {};
  return {0, word_near(kAboveRounding * std::exp(-0.5 * least * least), 1.0)};
}

WordRange Random::words_of_gumbel_above(double least) {
  return {word_near(std::exp(-kAboveRounding * std::exp(-least)), -1.0), WordRange().last};
}

}  // namespace fctree
