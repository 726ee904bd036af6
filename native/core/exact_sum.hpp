// Sums of doubles that do not depend on the order of their terms, so that partial sums from any
// threads or machines merge to the same bytes.
//
// A first pass counts the terms by their binary exponent: integers, whose order does not matter
// either. They give the largest magnitude and a bound on the sum of all. A second pass adds up
// each term as a fixed-point number of two integer words. With n terms a word has about
// 61 - log2 n bits (51 at most): two of them hold every term to 2^-100 of the largest for n up to
// a thousand, and to 2^-60 of it for a thousand million. O(n), twice.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/collective.hpp"
#include "core/parallel.hpp"
#include "core/types.hpp"

namespace fctree {

// A number that, added to |x| < 2^51, leaves x to the nearest integer in the last bits: those of
// the sum less those of the number are that integer. No conversion instruction, which vectors lack.
constexpr double kRoundingShift = 6755399441055744.0;  // 1.5 * 2^52

inline std::int64_t bits_from_shift(double shifted) {
  std::int64_t bits, zero;
  std::memcpy(&bits, &shifted, sizeof bits);
  std::memcpy(&zero, &kRoundingShift, sizeof zero);
  return bits - zero;
}

// To the nearest integer; exact for |x| < 2^51.
inline std::int64_t rounded(double x) { return bits_from_shift(x + kRoundingShift); }

// Bits that the number n takes.
inline int bits_of(index_t n) {
  int bits = 0;
  for (; n > 0; n >>= 1) ++bits;
  return bits;
}

// How many numbers have which exponent: 0 for zeros, e for 2^(e - 1023) <= |x| < 2^(e - 1022).
class ExponentCounts {
 public:
  static constexpr int kExponents = 2048;
  static int exponent_of(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<int>((bits >> 52) & 2047);
  }
  ExponentCounts() : counts_(kExponents, 0) {}
  explicit ExponentCounts(const std::int64_t* counts) : counts_(counts, counts + kExponents) {
    find_range();
  }
  // Counts term(begin) .. term(end - 1), fewer than 2^32: in turns in four tables, because numbers
  // of one exponent after the other would wait for each other.
  template <class Term>
  void add(index_t begin, index_t end, const Term& term) {
    std::uint32_t tables[4][kExponents] = {};
    index_t i = begin;
    for (; i + 4 <= end; i += 4)
      for (int t = 0; t < 4; ++t) ++tables[t][exponent_of(term(i + t))];
    for (; i < end; ++i) ++tables[0][exponent_of(term(i))];
    for (int e = 0; e < kExponents; ++e)
      counts_[e] += std::int64_t{tables[0][e]} + tables[1][e] + tables[2][e] + tables[3][e];
    find_range();
  }
  void merge(const ExponentCounts& other) {
    for (int e = other.first_; e < other.last_; ++e) counts_[e] += other.counts_[e];
    first_ = std::min(first_, other.first_);
    last_ = std::max(last_, other.last_);
  }
  int largest() const { return std::max(last_ - 1, 0); }
  // At least the sum of the magnitudes, and less than twice that.
  double bound() const {
    double bound = 0.0;
    for (int e = std::max(first_, 1); e < last_; ++e)
      if (counts_[e] != 0) bound += static_cast<double>(counts_[e]) * std::ldexp(1.0, e - 1022);
    return bound;
  }
  const std::vector<std::int64_t>& counts() const { return counts_; }

 private:
  void find_range() {
    first_ = 0;
    last_ = kExponents;
    while (last_ > 0 && counts_[last_ - 1] == 0) --last_;
    while (first_ < last_ && counts_[first_] == 0) ++first_;
    if (last_ == 0) first_ = kExponents;
  }

  std::vector<std::int64_t> counts_;
  int first_ = kExponents, last_ = 0;  // all that occur are in between
};

struct TwoWords {
  std::int64_t high = 0;
  std::int64_t low = 0;
  TwoWords& operator+=(const TwoWords& other) {
    high += other.high;
    low += other.low;
    return *this;
  }
};

// Fixed-point numbers for up to n terms whose largest exponent is this (ExponentCounts).
class FixedPoint {
 public:
  FixedPoint(int largest_exponent, index_t n) {
    const int bits = std::min(51, 61 - bits_of(n));
    // The inverse of a unit has to be finite: very small terms are scaled up.
    const int shift = largest_exponent < 300 ? 700 : 0;
    up_ = std::ldexp(1.0, shift);
    down_ = std::ldexp(1.0, -shift);
    const int exponent = std::max(largest_exponent + shift, 1) - 1022 - bits;
    high_ = std::ldexp(1.0, exponent);
    low_ = std::ldexp(1.0, exponent - bits);
    per_high_ = 1.0 / high_;
    per_low_ = 1.0 / low_;
  }
  TwoWords words(double x) const {
    x *= up_;
    const double shifted = x * per_high_ + kRoundingShift;
    const double high = shifted - kRoundingShift;
    return {bits_from_shift(shifted), rounded((x - high * high_) * per_low_)};
  }
  double value(const TwoWords& sum) const {
    return (static_cast<double>(sum.high) * high_ + static_cast<double>(sum.low) * low_) * down_;
  }

 private:
  double up_, down_, high_, low_, per_high_, per_low_;
};

constexpr index_t kSummedAtOnce = index_t{1} << 16;

// The sum of term(0) .. term(n - 1), and of the terms in all other places, NaN if any is not finite; terms are found on
// any thread.
template <class Term>
double exact_sum(index_t n, const Term& term, const Execution& execution) {
  const index_t n_parts = count_parts(n, kSummedAtOnce);
  const auto for_parts = [&](const auto& add) {
    for_each_part(execution, n, kSummedAtOnce, add);
  };
  std::vector<ExponentCounts> counted(n_parts);
  for_parts([&](index_t part, index_t begin, index_t end) { counted[part].add(begin, end, term); });
  ExponentCounts counts;
  for (const ExponentCounts& of_part : counted) counts.merge(of_part);
  const int largest = static_cast<int>(take_largest(execution.all, counts.largest()));
  if (largest == ExponentCounts::kExponents - 1) return std::numeric_limits<double>::quiet_NaN();
  const FixedPoint fixed(largest, add_up(execution.all, n));
  std::vector<TwoWords> sums(n_parts);
  for_parts([&](index_t part, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) sums[part] += fixed.words(term(i));
  });
  TwoWords sum;
  for (const TwoWords& of_part : sums) sum += of_part;
  std::int64_t words[] = {sum.high, sum.low};
  add_up(execution.all, words, 2);
  return fixed.value({words[0], words[1]});
}

}  // namespace fctree
