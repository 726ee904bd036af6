// The order of values, and a point between two of them.
#pragma once

#include "core/types.hpp"

namespace fctree {

// Scratch: two arrays of as many items as there are values.
struct SortBuffer {
  std::uint64_t* items;
  std::uint64_t* spare;
};

// Positions 0 .. n - 1 (n < 2^32) by ascending value, equal values by position: the low 32
// bits of the items of the returned array (one of the two of the buffer). No NaN. O(n) where
// values are spread, O(n log n) at worst.
const std::uint64_t* argsort(const double* values, index_t n, SortBuffer buffer);

inline std::uint32_t position(std::uint64_t item) { return static_cast<std::uint32_t>(item); }

// A point between two finite values, such that the lower compares as at most it and the
// upper as above it, whatever the rounding.
inline double midpoint(double lower, double upper) {
  const double middle = lower + (upper - lower) / 2.0;
  return middle < upper ? middle : lower;
}

}  // namespace fctree
