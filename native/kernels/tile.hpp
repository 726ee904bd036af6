// The loops of the Gram engine over one tile of the matrix, behind one table of functions per
// instruction set and type: a register-blocked product of packed rows, the pointwise kernel on
// each block while it is in the L1 cache, and the use of the values.
//
// Packed rows: rows in groups of `block_rows` (left) or `block_columns` (right), each group
// stored feature by feature, (n_features, group), the last group padded with zeros. Every entry of
// a product is summed feature by feature in order, so it does not depend on its position in a tile.
#pragma once

#include <cstdint>

namespace fctree::kernels {

struct KernelSpec;

// Rows and columns of a tile; divisible by every block. Two float64 tiles fit the L2 cache with
// the packed rows of some hundred features.
constexpr std::int64_t kTile = 96;

// Up to kTile packed rows with the kernels' inputs per row.
template <class T>
struct TileRows {
  const T* panels;
  const T* self;    // squared length as the engine computes it
  const T* gap;     // 1 - squared length, exactly
  const T* factor;  // the kernel value's factor
  std::int64_t n_rows;
};

template <class T>
struct TilePair {
  TileRows<T> left;
  TileRows<T> right;
  std::int64_t n_features;
};

template <class T>
struct TileTarget {
  T* out;               // the tile's first element
  std::int64_t stride;  // of the whole matrix
  bool stream;          // the matrix is larger than the caches: bypass them
};

template <class T>
struct TileKernels {
  std::int64_t block_rows;
  std::int64_t block_columns;
  // self[i] = the product of row i with itself, both sides packed from the same rows.
  void (*self_products)(const TilePair<T>& pair, T* self);
  // tile (kTile, kTile) = kernel values. O(n_left n_right n_features).
  void (*values)(const KernelSpec& spec, const TilePair<T>& pair, T* tile);
  // The two functions of a pair that all tree kernels share, and values from them.
  void (*angles)(const TilePair<T>& pair, T* t, T* k);
  void (*values_of_angles)(const KernelSpec& spec, const T* t, const T* k, T* tile);
  void (*transpose)(const T* tile, T* transposed);
  void (*write)(const T* tile, std::int64_t n_rows, std::int64_t n_columns,
                const TileTarget<T>& target);
  // sums[i * n_vectors + r] += tile row i . vectors[r], vectors (n_vectors, kTile) with zeros
  // beyond the tile.
  void (*multiply)(const T* tile, std::int64_t n_rows, const T* vectors, std::int64_t n_vectors,
                   double* sums);
};

// The tables of the instruction set in use (kernel_tables.cpp).
template <class T>
const TileKernels<T>& tile_kernels();
template <>
const TileKernels<double>& tile_kernels<double>();
template <>
const TileKernels<float>& tile_kernels<float>();

}  // namespace fctree::kernels
