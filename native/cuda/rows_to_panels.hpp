// Samples as panels (tiling.hpp): normalised as in kernels/rows.hpp, one thread per row.
#pragma once

#include "cuda/programs.hpp"

namespace fctree::cuda::FCTREE_ISA {

// Faults of the samples, accumulated over the rows.
struct RowFaults {
  int not_finite;
  int too_long;
};

template <class T>
struct PanelTask {
  const T* samples;  // (n_problems, n_rows, n_features)
  std::int64_t n_problems, n_features;
  RowScaling scaling;
  PanelRows<T> rows;
  RowFaults* faults;

  FCTREE_DEVICE std::int64_t n_threads() const {
    return n_problems * rows.n_tiles * TileShape<T>::tile;
  }
};

template <class T>
FCTREE_DEVICE inline bool all_finite(const T* row, std::int64_t n_features) {
  T sum = T(0);
  for (std::int64_t j = 0; j < n_features; ++j) sum += row[j] * T(0);  // NaN from NaN or infinity
  return sum == T(0);
}

// Row `index` of all padded rows of all problems. O(n_features).
template <class T>
FCTREE_DEVICE inline void row_to_panel(const PanelTask<T>& task, std::int64_t index) {
  constexpr int kTileSide = TileShape<T>::tile;
  const PanelRows<T>& rows = task.rows;
  const std::int64_t problem = index / (rows.n_tiles * kTileSide);
  const std::int64_t i = index - problem * rows.n_tiles * kTileSide;
  T* to = rows.panels + (index - index % kTileSide) * rows.depth + index % kTileSide;
  const T* row = task.samples + (problem * rows.n_rows + i) * task.n_features;
  RowLength length = {0.0, 1.0, 0.0};  // padding rows: orthogonal to all others
  const bool exists = i < rows.n_rows;
  if (exists) {
    const double norm =
        task.scaling.how == Normalisation::none ? 0.0 : row_norm(row, task.n_features);
    length = normalise_row(norm, task.scaling);
    if (!all_finite(row, task.n_features)) task.faults->not_finite = 1;
    else if (!(limited_length(norm, task.scaling) <= largest_norm<T>())) task.faults->too_long = 1;
  }
  rows.gap[index] = static_cast<T>(length.gap);
  rows.factor[index] = static_cast<T>(length.factor);
  for (std::int64_t k = 0; k < rows.depth; ++k)
    to[k * kTileSide] = exists && k < task.n_features
                            ? static_cast<T>(static_cast<double>(row[k]) * length.multiplier)
                            : T(0);
}

}  // namespace fctree::cuda::FCTREE_ISA
