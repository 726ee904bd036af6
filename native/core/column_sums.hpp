// Sums over the rows of a table, column by column, that do not depend on the order of their terms.
//
// Terms are fixed-point numbers of two words, integers held by doubles: multiples of units that are
// powers of two. As long as n terms of a word stay below 2^53, nothing is rounded but the terms.
#pragma once

#include <cstdint>

namespace fctree {

// (n_rows, n_columns) numbers, row-major; NaN and infinity count as missing.
struct NumberTable {
  const double* values;
  std::int64_t n_rows;
  std::int64_t n_columns;
};

// The units of the two words of each column, (n_columns,): below 2^51 multiples of `high` in a term.
struct ColumnUnits {
  const double* high;
  const double* low;
};

struct ColumnKernels {
  // largest[j] = max(largest[j], magnitudes of column j), missing[j] = 1 if a value is.
  void (*find_largest)(const NumberTable& table, double* largest, double* missing);
  // words (2, n_columns) += the words of share[i] * value[i, j], 0 where it is missing. O(n d).
  void (*add_words)(const NumberTable& table, const double* share, const ColumnUnits& units,
                    double* words);
};

const ColumnKernels& column_kernels();

}  // namespace fctree
