// A table of numbers as it came: row-major, float32 or float64, all rows of it or some. What reads it takes some
// rows at a time as float64, so that a large table is never converted as a whole.
#pragma once

#include <algorithm>

#include "core/types.hpp"

namespace fctree {

struct Table {
  const void* values;  // (n, n_columns)
  bool is_single;      // float32
  index_t n_columns;
  const index_t* rows = nullptr;  // the numbers of its rows, or null for all

  // Whether its rows are read where they lie.
  bool is_view() const { return rows == nullptr && !is_single; }
  // Rows first .. first + size - 1, (size, n_columns): where they lie or, if they have to be copied, in `buffer`.
  const double* read(index_t first, index_t size, double* buffer) const {
    if (is_view()) return static_cast<const double*>(values) + first * n_columns;
    if (rows == nullptr)
      copy(first, size, buffer);
    else
      for (index_t i = 0; i < size; ++i) copy(rows[first + i], 1, buffer + i * n_columns);
    return buffer;
  }

  // Where it has all rows.
  double at(index_t row, index_t column) const {
    const index_t place = row * n_columns + column;
    return is_single ? static_cast<const float*>(values)[place]
                     : static_cast<const double*>(values)[place];
  }

 private:
  void copy(index_t first, index_t size, double* out) const {
    if (is_single)
      std::copy_n(static_cast<const float*>(values) + first * n_columns, size * n_columns, out);
    else
      std::copy_n(static_cast<const double*>(values) + first * n_columns, size * n_columns, out);
  }
};

inline Table table_of(const double* values, index_t n_columns) { return {values, false, n_columns}; }

}  // namespace fctree
