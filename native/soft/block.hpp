// A block of samples as the kernels read it: rows padded with zeros to whole vectors, and the
// transpose for dense passes.
#pragma once

#include <algorithm>
#include <vector>

#include "soft/ensemble.hpp"

namespace fctree::soft {

constexpr index_t kPadding = 16;  // elements of the widest vector

inline index_t padded(index_t n) { return (n + kPadding - 1) / kPadding * kPadding; }

template <class T>
class SampleBlock {
 public:
  // x (n_rows, n_features).
  void pack(const T* x, index_t n_rows, index_t n_features) {
    n_rows_ = n_rows;
    n_features_ = n_features;
    transposed_.clear();
    rows_.assign(n_rows * stride(), T(0));
    for (index_t i = 0; i < n_rows; ++i)
      std::copy_n(x + i * n_features, n_features, rows_.data() + i * stride());
  }
  // (n_features, padded_rows()); called before several threads read the block.
  void transpose() {
    transposed_.assign(n_features_ * padded_rows(), T(0));
    for (index_t i = 0; i < n_rows_; ++i)
      for (index_t j = 0; j < n_features_; ++j)
        transposed_[j * padded_rows() + i] = rows_[i * stride() + j];
  }

  index_t n_rows() const { return n_rows_; }
  index_t n_features() const { return n_features_; }
  index_t stride() const { return padded(n_features_); }
  index_t padded_rows() const { return padded(n_rows_); }
  const T* rows() const { return rows_.data(); }
  const T* transposed() const { return transposed_.data(); }
  std::size_t bytes() const { return (rows_.capacity() + transposed_.capacity()) * sizeof(T); }

 private:
  index_t n_rows_ = 0;
  index_t n_features_ = 0;
  std::vector<T> rows_;
  std::vector<T> transposed_;
};

}  // namespace fctree::soft
