// Sums of integers over the rows of all places, which are the same in any order.
#pragma once

#include <numeric>
#include <vector>

#include "core/collective.hpp"
#include "core/parallel.hpp"

namespace fctree {

// Of term(i) over rows 0 .. n - 1 of each place, in tasks of so many.
template <class Term>
index_t sum_integers(const Execution& execution, index_t n, index_t task_rows, const Term& term) {
  std::vector<index_t> sums(count_parts(n, task_rows), 0);
  for_each_part(execution, n, task_rows, [&](index_t part, index_t begin, index_t end) {
    index_t sum = 0;
    for (index_t i = begin; i < end; ++i) sum += term(i);
    sums[part] = sum;
  });
  return add_up(execution.all, std::accumulate(sums.begin(), sums.end(), index_t{0}));
}

}  // namespace fctree
