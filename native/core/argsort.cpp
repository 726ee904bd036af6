#include "core/argsort.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace fctree {

namespace {

constexpr index_t kRadixFrom = 256;  // below, the digit tables cost more than comparisons
// Of few values the upper bits of a key tell nearly all apart.
constexpr index_t kShortKeysBelow = 2048;
constexpr index_t kLongKeysFrom = index_t{1} << 16;

void sort_by_comparison(const double* values, std::uint64_t* first, std::uint64_t* last) {
  std::sort(first, last, [values](std::uint64_t a, std::uint64_t b) {
    const double left = values[position(a)];
    const double right = values[position(b)];
    return left < right || (left == right && position(a) < position(b));
  });
}

// The lowest bit of an item that a sort by so many upper bits looks at. Keys have 32 bits.
constexpr int lowest_bit(int n_bits) { return n_bits < 32 ? 64 - n_bits : 32; }

// Stable radix sort by the upper bits; the sorted items end up in the returned array.
template <int kDigitBits, int kDigits>
std::uint64_t* sort_by_key(std::uint64_t* items, std::uint64_t* spare, index_t n) {
  constexpr std::uint64_t kDigitMask = (1u << kDigitBits) - 1;
  constexpr int kLowest = lowest_bit(kDigitBits * kDigits);
  std::array<std::array<std::uint32_t, kDigitMask + 1>, kDigits> starts{};
  const auto digit_of = [](std::uint64_t item, int digit) {
    return (item >> (kLowest + digit * kDigitBits)) & kDigitMask;
  };
  for (index_t i = 0; i < n; ++i)
    for (int digit = 0; digit < kDigits; ++digit) ++starts[digit][digit_of(items[i], digit)];
  for (int digit = 0; digit < kDigits; ++digit) {
    std::uint32_t total = 0;
    for (std::uint32_t& start : starts[digit]) {
      const std::uint32_t count = start;
      start = total;
      total += count;
    }
    for (index_t i = 0; i < n; ++i)
      spare[starts[digit][digit_of(items[i], digit)]++] = items[i];
    std::swap(items, spare);
  }
  return items;
}

// Items with equal upper bits, in a row, by comparison.
template <int kLowest>
void sort_ties(const double* values, std::uint64_t* items, index_t n) {
  const auto ties = [items](index_t i) { return (items[i] ^ items[i - 1]) >> kLowest == 0; };
  for (index_t i = 1; i < n; ++i) {
    if (!ties(i)) continue;
    const index_t begin = i - 1;
    while (i + 1 < n && ties(i + 1)) ++i;
    sort_by_comparison(values, items + begin, items + i + 1);
  }
}

template <int kDigitBits, int kDigits>
const std::uint64_t* sort_items(const double* values, SortBuffer buffer, index_t n) {
  std::uint64_t* items = sort_by_key<kDigitBits, kDigits>(buffer.items, buffer.spare, n);
  sort_ties<lowest_bit(kDigitBits * kDigits)>(values, items, n);
  return items;
}

}  // namespace

const std::uint64_t* argsort(const double* values, index_t n, SortBuffer buffer) {
  std::uint64_t* items = buffer.items;
  double lowest = n > 0 ? values[0] : 0.0, highest = lowest;
  for (index_t i = 1; i < n; ++i) {
    lowest = values[i] < lowest ? values[i] : lowest;
    highest = values[i] > highest ? values[i] : highest;
  }
  const double range = highest - lowest;
  const double resolution = std::numeric_limits<std::uint32_t>::max() / range;
  // Also false where the range overflows or is 0, or a value is not finite.
  const bool spread = resolution > 0.0 && resolution < std::numeric_limits<double>::max();
  if (n < kRadixFrom || !spread) {
    for (index_t i = 0; i < n; ++i) items[i] = static_cast<std::uint64_t>(i);
    sort_by_comparison(values, items, items + n);
    return items;
  }
  // The key grows with the value, so sorting by it leaves only runs of equal keys to sort. Rounding adds a millionth
  // to the largest, which is 2^32 - 1, at most.
  for (index_t i = 0; i < n; ++i) {
    const auto key = static_cast<std::int64_t>((values[i] - lowest) * resolution);
    items[i] = static_cast<std::uint64_t>(key) << 32 | static_cast<std::uint64_t>(i);
  }
  if (n < kShortKeysBelow) return sort_items<8, 2>(values, buffer, n);
  if (n < kLongKeysFrom) return sort_items<11, 2>(values, buffer, n);
  return sort_items<11, 3>(values, buffer, n);
}

}  // namespace fctree
