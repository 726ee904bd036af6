// Numbers of rows that a condition holds for.
#pragma once

#include <algorithm>
#include <vector>

#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "core/types.hpp"

namespace fctree {

// Those of 0 .. n - 1, ascending.
template <class Index, class Condition>
Buffer<Index> numbers_where(const Execution& execution, index_t n, const Condition& holds) {
  constexpr index_t kTaskNumbers = 4096;
  Buffer<Index> found(n);
  std::vector<index_t> n_found(count_parts(n, kTaskNumbers)), place;
  for_each_part(execution, n, kTaskNumbers, [&](index_t part, index_t begin, index_t end) {
    index_t next = begin;
    for (index_t i = begin; i < end; ++i) {  // without a branch: nothing predicts a draw
      found[next] = static_cast<Index>(i);
      next += holds(i);
    }
    n_found[part] = next - begin;
  });
  index_t size = 0;
  for (const index_t of_part : n_found) {
    place.push_back(size);
    size += of_part;
  }
  Buffer<Index> together(size);
  for_each_part(execution, n, kTaskNumbers, [&](index_t part, index_t begin, index_t) {
    std::copy_n(found.data() + begin, n_found[part], together.data() + place[part]);
  });
  return together;
}

}  // namespace fctree
