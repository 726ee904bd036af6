#include "oblique/threshold.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace fctree {

namespace {

constexpr index_t kRadixFrom = 256;  // below, the digit tables cost more than comparisons
constexpr int kDigitBits = 11;
constexpr int kDigits = 3;  // 33 bits cover the 32 of a key
constexpr std::uint64_t kDigitMask = (1u << kDigitBits) - 1;

inline std::uint32_t position(std::uint64_t item) { return static_cast<std::uint32_t>(item); }

void sort_by_comparison(const double* scores, std::uint64_t* first, std::uint64_t* last) {
  std::sort(first, last, [scores](std::uint64_t a, std::uint64_t b) {
    const double left = scores[position(a)];
    const double right = scores[position(b)];
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

const std::uint64_t* sort_scores(const double* scores, index_t n, SortBuffer buffer) {
  std::uint64_t* items = buffer.items;
  const auto [lowest, highest] = std::minmax_element(scores, scores + n);
  const double range = *highest - *lowest;
  const double resolution = std::numeric_limits<std::uint32_t>::max() / range;
  if (n < kRadixFrom || !(resolution < std::numeric_limits<double>::max())) {
    for (index_t i = 0; i < n; ++i) items[i] = static_cast<std::uint64_t>(i);
    sort_by_comparison(scores, items, items + n);
    return items;
  }
  // The key grows with the score, so sorting by it leaves only runs of equal keys to sort.
  const double offset = *lowest;
  for (index_t i = 0; i < n; ++i) {
    const auto key = static_cast<std::uint64_t>((scores[i] - offset) * resolution);
    items[i] = std::min<std::uint64_t>(key, 0xffffffffu) << 32 | static_cast<std::uint64_t>(i);
  }
  items = sort_by_key(items, buffer.spare, n);
  for (index_t begin = 0; begin < n;) {
    index_t end = begin + 1;
    while (end < n && items[end] >> 32 == items[begin] >> 32) ++end;
    if (end - begin > 1) sort_by_comparison(scores, items + begin, items + end);
    begin = end;
  }
  return items;
}

Cut best_cut(const TrainingData& data, const NodeRows& node, const Vector& mean, double weight,
             const double* scores, const CutRules& rules) {
  const index_t n = node.size;
  const index_t n_outputs = data.n_outputs;
  std::vector<std::uint64_t> items(n), spare(n);
  const std::uint64_t* order = sort_scores(scores, n, {items.data(), spare.data()});
  const double gap = least_gap(rules, scores[position(order[0])], scores[position(order[n - 1])]);
  Vector sums = Vector::Zero(n_outputs);  // of w (y - mean), left of the cut
  double left_weight = 0.0;
  Cut best;
  for (index_t i = 0; i + rules.min_samples_leaf < n; ++i) {
    const std::uint32_t at = position(order[i]);
    const index_t row = node.rows[at];
    const double own_weight = data.weight == nullptr ? 1.0 : data.weight[row];
    const double* y = data.y + row * n_outputs;
    left_weight += own_weight;
    for (index_t k = 0; k < n_outputs; ++k) sums[k] += own_weight * (y[k] - mean[k]);
    if (i + 1 < rules.min_samples_leaf) continue;
    const double upper = scores[position(order[i + 1])];
    if (!(upper - scores[at] > gap)) continue;
    const double right_weight = weight - left_weight;
    if (!(right_weight > 0.0)) break;
    const double decrease = sums.squaredNorm() / (left_weight * right_weight);
    if (is_better(decrease, best.decrease)) {
      best.found = true;
      best.decrease = decrease;
      best.threshold = midpoint(scores[at], upper);
      best.n_left = i + 1;
    }
  }
  return best;
}

}  // namespace fctree
