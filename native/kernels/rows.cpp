#include "kernels/rows.hpp"

#include <sstream>
#include <stdexcept>

namespace fctree::kernels {

Normalisation normalisation_of(KernelKind kind) {
  for (const NamedKernel& kernel : kKernels)
    if (kernel.kind == kind) return kernel.rows;
  throw std::logic_error("a kernel is missing in the list of kernels");
}

namespace {

template <class T>
[[noreturn]] void refuse_length(double length) {
  std::ostringstream message;
  message << "X has a row with scale * |x| = " << length << "; at most " << largest_norm<T>()
          << " is supported in " << (sizeof(T) == sizeof(double) ? "float64" : "float32")
          << ": rescale the features" << (sizeof(T) == sizeof(float) ? " or use float64" : "");
  throw std::invalid_argument(message.str());
}

}  // namespace

template <class T>
RowLength measure_row(const T* row, index_t n_features, const RowScaling& scaling) {
  if (scaling.how == Normalisation::none) return normalise_row(0.0, scaling);
  const double norm = row_norm(row, n_features);
  const double length = limited_length(norm, scaling);
  if (!(length <= largest_norm<T>())) refuse_length<T>(length);
  return normalise_row(norm, scaling);
}

template RowLength measure_row<double>(const double*, index_t, const RowScaling&);
template RowLength measure_row<float>(const float*, index_t, const RowScaling&);

template <class T>
PreparedRows<T>::PreparedRows(const Samples<T>& samples, const RowScaling& scaling,
                              const Execution& execution)
    : n_rows_(samples.n_rows),
      n_features_(samples.n_features),
      left_(n_tiles() * kTile * n_features_),
      right_(n_tiles() * kTile * n_features_),
      self_(n_tiles() * kTile),
      gap_(n_tiles() * kTile),
      factor_(n_tiles() * kTile) {
  const auto& kernels = tile_kernels<T>();
  const double work = 1.0 * n_rows_ * n_features_ * (8 + kernels.block_columns);
  parallel_for(limit_threads(execution, work), n_tiles(),
               [&](index_t tile) { prepare_tile(samples, scaling, tile); });
}

template <class T>
void PreparedRows<T>::prepare_tile(const Samples<T>& samples, const RowScaling& scaling,
                                   index_t tile) {
  const auto& kernels = tile_kernels<T>();
  const index_t d = n_features_, begin = tile_begin(tile), n_rows = tile_rows(tile);
  T* left = left_.data() + begin * d;
  T* right = right_.data() + begin * d;
  // Rows that pad the last block are orthogonal to all others.
  for (index_t i = n_rows; i < kTile; ++i) gap_.data()[begin + i] = T(1);
  for (index_t i = 0; i < n_rows; ++i) {
    const T* row = samples.data + (begin + i) * d;
    const RowLength length = measure_row(row, d, scaling);
    gap_.data()[begin + i] = static_cast<T>(length.gap);
    factor_.data()[begin + i] = static_cast<T>(length.factor);
    T* in_left = left + i / kernels.block_rows * kernels.block_rows * d + i % kernels.block_rows;
    T* in_right =
        right + i / kernels.block_columns * kernels.block_columns * d + i % kernels.block_columns;
    for (index_t j = 0; j < d; ++j) {
      const T value = static_cast<T>(static_cast<double>(row[j]) * length.multiplier);
      in_left[j * kernels.block_rows] = value;
      in_right[j * kernels.block_columns] = value;
    }
  }
  const TilePair<T> both = {side(left_.data(), tile), side(right_.data(), tile), d};
  kernels.self_products(both, self_.data() + begin);
}

template class PreparedRows<double>;
template class PreparedRows<float>;

}  // namespace fctree::kernels
