// Rows of samples for the tile loops: normalised, packed for both sides of a product, with their
// squared lengths and 1 minus these (see kernels/pointwise.hpp).
#pragma once

#include <new>

#include "core/parallel.hpp"
#include "kernels/pointwise.hpp"
#include "kernels/row_length.hpp"
#include "kernels/tile.hpp"

namespace fctree::kernels {

// Row-major samples (n_rows, n_features), without gaps between the rows.
template <class T>
struct Samples {
  const T* data;
  index_t n_rows;
  index_t n_features;
};

// Memory that starts on a cache line, set to zero.
template <class T>
class AlignedArray {
 public:
  explicit AlignedArray(index_t size) : data_(allocate(size)) {
    for (index_t i = 0; i < size; ++i) data_[i] = T(0);
  }
  AlignedArray(AlignedArray&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  AlignedArray(const AlignedArray&) = delete;
  AlignedArray& operator=(const AlignedArray&) = delete;
  AlignedArray& operator=(AlignedArray&&) = delete;
  ~AlignedArray() { ::operator delete(data_, std::align_val_t{kAlignment}); }
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  static T* allocate(index_t size) {
    return static_cast<T*>(
        ::operator new(static_cast<std::size_t>(size) * sizeof(T), std::align_val_t{kAlignment}));
  }
  T* data_;
};

template <class T>
class PreparedRows {
 public:
  // O(n d), and O(n d block_columns) multiply-adds for the squared lengths. Throws
  // std::invalid_argument if a scaled row is too long for T (see largest_norm).
  PreparedRows(const Samples<T>& samples, const RowScaling& scaling, const Execution& execution);

  index_t n_rows() const { return n_rows_; }
  index_t n_tiles() const { return count_parts(n_rows_, kTile); }
  index_t tile_begin(index_t tile) const { return tile * kTile; }
  index_t tile_rows(index_t tile) const {
    const index_t rest = n_rows_ - tile * kTile;
    return rest < kTile ? rest : kTile;
  }
  TilePair<T> pair(index_t tile, const PreparedRows& right, index_t right_tile) const {
    return {side(left_.data(), tile), right.side(right.right_.data(), right_tile), n_features_};
  }

 private:
  TileRows<T> side(const T* panels, index_t tile) const {
    const index_t begin = tile * kTile;
    return {panels + begin * n_features_, self_.data() + begin, gap_.data() + begin,
            factor_.data() + begin, tile_rows(tile)};
  }
  void prepare_tile(const Samples<T>& samples, const RowScaling& scaling, index_t tile);

  index_t n_rows_;
  index_t n_features_;
  AlignedArray<T> left_;
  AlignedArray<T> right_;
  AlignedArray<T> self_;
  AlignedArray<T> gap_;
  AlignedArray<T> factor_;
};

extern template class PreparedRows<double>;
extern template class PreparedRows<float>;

// A row's length and its normalised form; throws if it exceeds largest_norm.
template <class T>
RowLength measure_row(const T* row, index_t n_features, const RowScaling& scaling);

}  // namespace fctree::kernels
