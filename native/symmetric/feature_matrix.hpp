// The features as NumPy arrays: float32 or float64, any strides, NaN for missing.
#pragma once

#include <cstdlib>

#include "core/types.hpp"

namespace fctree::symmetric {

struct FeatureMatrix {
  const void* data;
  index_t n_samples;
  index_t n_features;
  index_t row_stride;     // in elements
  index_t column_stride;  // in elements
  bool single_precision;

  double operator()(index_t row, index_t column) const {
    const index_t at = row * row_stride + column * column_stride;
    return single_precision ? static_cast<double>(static_cast<const float*>(data)[at])
                            : static_cast<const double*>(data)[at];
  }

  // Whether a feature's values are closer together than a row's.
  bool by_column() const { return std::abs(row_stride) < std::abs(column_stride); }

  // out[c * (end - begin) + i] = feature columns[c] of row begin + i. Features adjacent in memory
  // are read together.
  void copy_columns(const index_t* columns, index_t n_columns, index_t begin, index_t end,
                    double* out) const {
    if (single_precision)
      copy(static_cast<const float*>(data), columns, n_columns, begin, end, out);
    else
      copy(static_cast<const double*>(data), columns, n_columns, begin, end, out);
  }

 private:
  template <class Scalar>
  void copy(const Scalar* from, const index_t* columns, index_t n_columns, index_t begin,
            index_t end, double* out) const {
    const index_t n = end - begin;
    if (by_column()) {
      for (index_t c = 0; c < n_columns; ++c) {
        const Scalar* column = from + begin * row_stride + columns[c] * column_stride;
        for (index_t i = 0; i < n; ++i) out[c * n + i] = static_cast<double>(column[i * row_stride]);
      }
      return;
    }
    for (index_t i = 0; i < n; ++i) {
      const Scalar* row = from + (begin + i) * row_stride;
      for (index_t c = 0; c < n_columns; ++c)
        out[c * n + i] = static_cast<double>(row[columns[c] * column_stride]);
    }
  }
};

}  // namespace fctree::symmetric
