// The tile loops of kernels/tile.hpp, compiled once per instruction set.
#include "kernels/tile.hpp"

#include "kernels/lanes.hpp"
#include "kernels/pointwise.hpp"

namespace fctree::kernels::FCTREE_ISA {

namespace {

// A register block: kRows rows times kPacks vectors of columns are summed in registers (8 x 3
// of AVX-512's 32; 4 x 3 and 4 x 2 of the 16 of AVX2 and SSE2).
template <class T>
struct Block {
  static constexpr int lanes = Lanes<T>::count;
  static constexpr int rows = kVectorBytes == 64 ? 8 : 4;
  static constexpr int packs = kVectorBytes == 16 ? 2 : 3;
  static constexpr int columns = packs * lanes;
  static_assert(kTile % rows == 0 && kTile % columns == 0, "blocks fill a tile");
};

// Features summed before the block goes back to the tile: packed rows of a tile and of a
// block then stay in the first two caches.
constexpr std::int64_t kFeatureChunk = 256;

// block (kTile stride) = or += the products of one group of left and of right rows.
template <class T>
inline void multiply_block(const T* left, const T* right, std::int64_t n_features, bool add,
                           T* block) {
  using B = Block<T>;
  using V = typename Lanes<T>::Vector;
  V sums[B::rows][B::packs];
  for (int i = 0; i < B::rows; ++i)
    for (int p = 0; p < B::packs; ++p)
      sums[i][p] = add ? load_lanes(block + i * kTile + p * B::lanes) : V{};
  for (std::int64_t k = 0; k < n_features; ++k, left += B::rows, right += B::columns) {
    V values[B::packs];
    for (int p = 0; p < B::packs; ++p) values[p] = load_lanes(right + p * B::lanes);
    for (int i = 0; i < B::rows; ++i) {
      const V factor = set_lanes(left[i]);
      for (int p = 0; p < B::packs; ++p) sums[i][p] += factor * values[p];
    }
  }
  for (int i = 0; i < B::rows; ++i)
    for (int p = 0; p < B::packs; ++p) store_lanes(block + i * kTile + p * B::lanes, sums[i][p]);
}

// Calls finish(row, column, block) for each block of the tile once its products are summed.
template <class T, class Finish>
inline void multiply_tile(const TilePair<T>& pair, T* tile, const Finish& finish) {
  using B = Block<T>;
  const std::int64_t d = pair.n_features;
  for (std::int64_t start = 0; start == 0 || start < d; start += kFeatureChunk) {
    const std::int64_t length = d - start < kFeatureChunk ? d - start : kFeatureChunk;
    const bool last = start + kFeatureChunk >= d;
    for (std::int64_t j = 0; j < pair.right.n_rows; j += B::columns)
      for (std::int64_t i = 0; i < pair.left.n_rows; i += B::rows) {
        T* block = tile + i * kTile + j;
        multiply_block(pair.left.panels + i * d + start * B::rows,
                       pair.right.panels + j * d + start * B::columns, length, start > 0, block);
        if (last) finish(i, j, block);
      }
  }
}

template <class T>
void self_products(const TilePair<T>& pair, T* self) {
  using B = Block<T>;
  T block[B::rows * kTile];
  const std::int64_t d = pair.n_features;
  for (std::int64_t i = 0; i < pair.left.n_rows; i += B::rows) {
    const std::int64_t j = i / B::columns * B::columns;
    for (std::int64_t start = 0; start == 0 || start < d; start += kFeatureChunk) {
      const std::int64_t length = d - start < kFeatureChunk ? d - start : kFeatureChunk;
      multiply_block(pair.left.panels + i * d + start * B::rows,
                     pair.right.panels + j * d + start * B::columns, length, start > 0, block);
    }
    for (int r = 0; r < B::rows && i + r < pair.left.n_rows; ++r)
      self[i + r] = block[r * kTile + (i + r - j)];
  }
}

// store(element, pair) for every vector of a finished block.
template <class T, class Store>
inline void for_each_vector(const TilePair<T>& pair, std::int64_t i, std::int64_t j,
                            const T* block, const Store& store) {
  using B = Block<T>;
  using V = typename Lanes<T>::Vector;
  for (int r = 0; r < B::rows; ++r) {
    const V self = set_lanes(pair.left.self[i + r]);
    const V gap = set_lanes(pair.left.gap[i + r]);
    const V factor = set_lanes(pair.left.factor[i + r]);
    for (int p = 0; p < B::packs; ++p) {
      const std::int64_t element = r * kTile + p * B::lanes, column = j + p * B::lanes;
      store(element, Pair<V>{load_lanes(block + element), self,
                             load_lanes(pair.right.self + column), gap,
                             load_lanes(pair.right.gap + column),
                             factor * load_lanes(pair.right.factor + column)});
    }
  }
}

// All pairs of a block layer by layer; their states stay in the L1 cache.
template <class T, class Kernel>
inline void apply_layers(const Kernel& kernel, const TilePair<T>& pair, std::int64_t i,
                         std::int64_t j, T* block) {
  using B = Block<T>;
  using V = typename Lanes<T>::Vector;
  constexpr int size = B::rows * B::packs;
  typename Kernel::template State<V> states[size];
  V factors[size];
  int k = 0;
  for_each_vector(pair, i, j, block, [&](std::int64_t, const Pair<V>& vectors) {
    states[k] = kernel.start(vectors);
    factors[k++] = vectors.factor;
  });
  for (std::int64_t layer = 0; layer < kernel.n_steps; ++layer)
    for (k = 0; k < size; ++k) states[k] = kernel.step(states[k]);
  k = 0;
  for (int r = 0; r < B::rows; ++r)
    for (int p = 0; p < B::packs; ++p, ++k)
      store_lanes(block + r * kTile + p * B::lanes, kernel.finish(states[k], factors[k]));
}

template <class T, class Kernel>
void values_with(const Kernel& kernel, const TilePair<T>& pair, T* tile) {
  using V = typename Lanes<T>::Vector;
  multiply_tile(pair, tile, [&](std::int64_t i, std::int64_t j, T* block) {
    if constexpr (Kernel::layered) {
      apply_layers(kernel, pair, i, j, block);
    } else {
      for_each_vector(pair, i, j, block, [&](std::int64_t element, const Pair<V>& vectors) {
        store_lanes(block + element, kernel(vectors));
      });
    }
  });
}

template <class T>
void values(const KernelSpec& spec, const TilePair<T>& pair, T* tile) {
  with_kernel(spec, [&](const auto& kernel) { values_with(kernel, pair, tile); });
}

template <class T>
void angles(const TilePair<T>& pair, T* t, T* k) {
  using V = typename Lanes<T>::Vector;
  multiply_tile(pair, t, [&](std::int64_t i, std::int64_t j, T* block) {
    T* other = k + i * kTile + j;
    for_each_vector(pair, i, j, block, [&](std::int64_t element, const Pair<V>& vectors) {
      const Angle<V> angle(vectors);
      store_lanes(block + element, angle.t);
      store_lanes(other + element, angle.k);
    });
  });
}

template <class T>
void values_of_angles(const KernelSpec& spec, const T* t, const T* k, T* tile) {
  with_sum(spec, [&](const auto& sum) {
    for (std::int64_t element = 0; element < kTile * kTile; element += Lanes<T>::count)
      store_lanes(tile + element, sum.value(load_lanes(t + element), load_lanes(k + element)));
  });
}

template <class T>
void transpose(const T* tile, T* transposed) {
  using V = typename Lanes<T>::Vector;
  constexpr int kLanes = Lanes<T>::count;
  for (std::int64_t j = 0; j < kTile; j += kLanes)
    for (std::int64_t i = 0; i < kTile; i += kLanes) {
      V rows[kLanes];
      for (int r = 0; r < kLanes; ++r) rows[r] = load_lanes(tile + (i + r) * kTile + j);
      transpose_lanes(rows);
      for (int r = 0; r < kLanes; ++r) store_lanes(transposed + (j + r) * kTile + i, rows[r]);
    }
}

template <class T>
void write(const T* tile, std::int64_t n_rows, std::int64_t n_columns,
           const TileTarget<T>& target) {
  constexpr int kLanes = Lanes<T>::count;
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const T* from = tile + i * kTile;
    T* to = target.out + i * target.stride;
    std::int64_t j = 0;
    if (target.stream) {
      for (; j < n_columns && reinterpret_cast<std::uintptr_t>(to + j) % kVectorBytes != 0; ++j)
        to[j] = from[j];
      for (; j + kLanes <= n_columns; j += kLanes) stream_lanes(to + j, load_lanes(from + j));
    } else {
      for (; j + kLanes <= n_columns; j += kLanes) store_lanes(to + j, load_lanes(from + j));
    }
    for (; j < n_columns; ++j) to[j] = from[j];
  }
  if (target.stream) finish_streaming();
}

template <class T>
void multiply(const T* tile, std::int64_t n_rows, const T* vectors, std::int64_t n_vectors,
              double* sums) {
  using V = typename Lanes<T>::Vector;
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const T* row = tile + i * kTile;
    for (std::int64_t r = 0; r < n_vectors; ++r) {
      const T* vector = vectors + r * kTile;
      V even{}, odd{};
      std::int64_t j = 0;
      for (; j + 2 * Lanes<T>::count <= kTile; j += 2 * Lanes<T>::count) {
        even += load_lanes(row + j) * load_lanes(vector + j);
        odd += load_lanes(row + j + Lanes<T>::count) * load_lanes(vector + j + Lanes<T>::count);
      }
      even += odd;
      double total = 0.0;
      for (int lane = 0; lane < Lanes<T>::count; ++lane) total += even[lane];
      sums[i * n_vectors + r] += total;
    }
  }
}

}  // namespace

extern const TileKernels<double> tile_table_double;
extern const TileKernels<float> tile_table_float;

const TileKernels<double> tile_table_double = {
    Block<double>::rows,      Block<double>::columns, &self_products<double>,
    &values<double>,          &angles<double>,        &values_of_angles<double>,
    &transpose<double>,       &write<double>,         &multiply<double>};
const TileKernels<float> tile_table_float = {
    Block<float>::rows,       Block<float>::columns,  &self_products<float>,
    &values<float>,           &angles<float>,         &values_of_angles<float>,
    &transpose<float>,        &write<float>,          &multiply<float>};

}  // namespace fctree::kernels::FCTREE_ISA
