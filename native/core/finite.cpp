#include "core/finite.hpp"

#include <atomic>

namespace fctree {

namespace {

constexpr index_t kValuesAtOnce = index_t{1} << 15;

// Several sums side by side, as vectors add.
template <class Real>
bool is_part_finite(const Real* values, index_t n) {
  constexpr index_t kSums = 16;
  Real sums[kSums] = {};
  index_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (index_t k = 0; k < kSums; ++k) sums[k] += values[i + k] * 0;  // NaN of what is not finite
  for (; i < n; ++i) sums[0] += values[i] * 0;
  for (index_t k = 1; k < kSums; ++k) sums[0] += sums[k];
  return sums[0] == 0;
}

template <class Real>
bool is_all_finite(const Real* values, index_t n, const Execution& execution) {
  if (n <= kValuesAtOnce) return is_part_finite(values, n);
  std::atomic<bool> finite{true};
  for_each_part(limit_threads(execution, 4.0 * static_cast<double>(n)), n, kValuesAtOnce,
                [&](index_t, index_t begin, index_t end) {
                  if (finite && !is_part_finite(values + begin, end - begin)) finite = false;
                });
  return finite;
}

}  // namespace

bool are_finite(const double* values, index_t n, const Execution& execution) {
  return is_all_finite(values, n, execution);
}

bool are_finite(const float* values, index_t n, const Execution& execution) {
  return is_all_finite(values, n, execution);
}

}  // namespace fctree
