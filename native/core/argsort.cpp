#include "core/argsort.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace fctree {

namespace {

constexpr index_t kRadixFrom = 256;  // below, the digit tables cost more than comparisons
constexpr int kDigitBits = 11;
constexpr int kDigits = 3;  // 33 bits cover the 32 of a key
constexpr std::uint64_t kDigitMask = (1u << kDigitBits) - 1;

void sort_by_comparison(const double* values, std::uint64_t* first, std::uint64_t* last) {
  std::sort(first, last, [values](std::uint64_t a, std::uint64_t b) {
    const double left = values[position(a)];
    const double right = values[position(b)];
    return left < right || (left == right && position(a) < position(b));
  });
}

// Stable radix sort by the upper 32 bits; the sorted items end up in the returned array.
std::uint64_t* sort_by_key(std::uint64_t* items, std::uint64_t* spare, index_t n) {
  std::array<std::array<std::uint32_t, kDigitMask + 1>, kDigits> starts{};
  const auto digit_of = [](std::uint64_t item, int digit) {
    return (item >> (32 + digit * kDigitBits)) & kDigitMask;
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

}  // namespace

const std::uint64_t* argsort(const double* values, index_t n, SortBuffer buffer) {
  std::uint64_t* items = buffer.items;
  const auto [lowest, highest] = std::minmax_element(values, values + n);
  const double range = *highest - *lowest;
  const double resolution = std::numeric_limits<std::uint32_t>::max() / range;
  // Also false where the range overflows or is 0, or a value is not finite.
  const bool spread = resolution > 0.0 && resolution < std::numeric_limits<double>::max();
  if (n < kRadixFrom || !spread) {
    for (index_t i = 0; i < n; ++i) items[i] = static_cast<std::uint64_t>(i);
    sort_by_comparison(values, items, items + n);
    return items;
  }
  // The key grows with the value, so sorting by it leaves only runs of equal keys to sort.
  const double offset = *lowest;
  for (index_t i = 0; i < n; ++i) {
    const auto key = static_cast<std::uint64_t>((values[i] - offset) * resolution);
    items[i] = std::min<std::uint64_t>(key, 0xffffffffu) << 32 | static_cast<std::uint64_t>(i);
  }
  items = sort_by_key(items, buffer.spare, n);
  for (index_t begin = 0; begin < n;) {
    index_t end = begin + 1;
    while (end < n && items[end] >> 32 == items[begin] >> 32) ++end;
    if (end - begin > 1) sort_by_comparison(values, items + begin, items + end);
    begin = end;
  }
  return items;
}

}  // namespace fctree
