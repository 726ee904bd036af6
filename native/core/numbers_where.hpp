// Numbers of rows that a condition holds for.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace fctree {

// Those of 0 .. n - 1, ascending. Without a branch: nothing predicts a draw.
template <class Index, class Condition>
std::vector<Index> numbers_where(index_t n, const Condition& holds) {
  std::vector<Index> found(n);
  index_t n_found = 0;
  for (index_t i = 0; i < n; ++i) {
    found[n_found] = static_cast<Index>(i);
    n_found += holds(i);
  }
  found.resize(n_found);
  return found;
}

}  // namespace fctree
