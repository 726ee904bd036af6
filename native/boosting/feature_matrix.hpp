// The features as NumPy hands them over: float32 or float64, any strides, NaN for missing.
#pragma once

#include "core/types.hpp"

namespace fctree {

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

  // out[i] = feature `column` of row begin + i.
  void copy_column(index_t column, index_t begin, index_t end, double* out) const {
    const index_t first = begin * row_stride + column * column_stride;
    if (single_precision)
      copy(static_cast<const float*>(data) + first, end - begin, out);
    else
      copy(static_cast<const double*>(data) + first, end - begin, out);
  }

 private:
  template <class Scalar>
  void copy(const Scalar* from, index_t n, double* out) const {
    for (index_t i = 0; i < n; ++i) out[i] = static_cast<double>(from[i * row_stride]);
  }
};

}  // namespace fctree
