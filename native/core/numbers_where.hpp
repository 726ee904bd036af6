// Numbers of rows that a condition holds for.
#pragma once

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"
#include "core/types.hpp"

namespace fctree {

// Those of 0 .. n - 1, ascending.
template <class Index, class Condition>
std::vector<Index> numbers_where(const Execution& execution, index_t n, const Condition& holds) {
  constexpr index_t kTaskNumbers = 16384;
  std::vector<Index> found(n);
  std::vector<index_t> n_found(count_parts(n, kTaskNumbers));
  for_each_part(execution, n, kTaskNumbers, [&](index_t part, index_t begin, index_t end) {
    index_t next = begin;
    for (index_t i = begin; i < end; ++i) {  // without a branch: nothing predicts a draw
      found[next] = static_cast<Index>(i);
      next += holds(i);
    }
    n_found[part] = next - begin;
  });
  auto next = found.begin();
  for (index_t part = 0; part < static_cast<index_t>(n_found.size()); ++part)
    next = std::copy_n(found.begin() + part * kTaskNumbers, n_found[part], next);
  found.erase(next, found.end());
  return found;
}

}  // namespace fctree
