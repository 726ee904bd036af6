// Tiling of a Gram matrix on a device, and the indexing of a block's threads: integer arithmetic
// shared by the device and its emulation.
//
// A *problem* is one Gram matrix; a batch has many of one shape. A *panel* is the rows of one
// tile, feature by feature, (depth, tile), padded with zeros: rows beyond the last, and features
// up to a multiple of kGroup. A block of threads computes one tile.
#pragma once

#include <cstdint>

#include "cuda/pack.hpp"

namespace fctree::cuda::FCTREE_ISA {

constexpr int kGroup = 4;    // features multiplied together
constexpr int kStages = 3;   // parts of panels in shared memory: one in use, two being copied
constexpr int kBand = 8;     // rows of tiles traversed together

// float: 256 threads, 8 x 8 sums each. double: 6 warps, 48 x 32 sums each, on tensor cores. Two
// blocks fit a multiprocessor: one writes while the other multiplies.
template <class T>
struct TileShape;

template <>
struct TileShape<float> {
  static constexpr int tile = 128, threads = 256;
  static constexpr int stage_depth = 16;  // features of a stage
  static constexpr int stride = 128;      // between features in shared memory
};

template <>
struct TileShape<double> {
  static constexpr int tile = 96, threads = 192;
  static constexpr int stage_depth = 12;
  // 4 features of 4 rows then lie in 16 different banks of 8 bytes.
  static constexpr int stride = 100;
};

// Elements of shared memory: the stages of both sides, or later the tile itself.
template <class T>
constexpr int kStageSize = TileShape<T>::stage_depth * TileShape<T>::stride;
template <class T>
constexpr int kTileSize = TileShape<T>::tile * TileShape<T>::tile;
template <class T>
constexpr int kSharedSize =
    2 * kStages * kStageSize<T> > kTileSize<T> ? 2 * kStages * kStageSize<T> : kTileSize<T>;
template <class T>
constexpr int kPacksPerRow = TileShape<T>::tile / kPack<T>;

FCTREE_DEVICE constexpr std::int64_t round_up(std::int64_t size, std::int64_t step) {
  return (size + step - 1) / step * step;
}

// Position of a tile's element in shared memory: packs of a row are permuted by the row so that
// both rows and columns of packs are read from different banks.
template <class T>
FCTREE_DEVICE inline int tile_index(int row, int column) {
  const int pack = (column / kPack<T>) ^ ((row / kPack<T>) & 7);
  return row * TileShape<T>::tile + pack * kPack<T> + column % kPack<T>;
}

// The tiles of all problems in the order of the blocks: by problem, by band of kBand
// rows of tiles, by column, by row. Blocks that run together then share panels. In the symmetric case
// a band starts at the diagonal, and the few tiles below it are passed over.
struct TileGrid {
  std::int64_t n_problems, n_rows, n_columns;  // in tiles
  bool symmetric;

  FCTREE_DEVICE std::int64_t height(std::int64_t band) const {
    const std::int64_t rest = n_rows - band * kBand;
    return rest < kBand ? rest : kBand;
  }
  FCTREE_DEVICE std::int64_t first_column(std::int64_t band) const {
    return symmetric ? band * kBand : 0;
  }
  FCTREE_DEVICE std::int64_t n_bands() const { return (n_rows + kBand - 1) / kBand; }
  // Tiles of a problem before a band; those before it are all kBand high.
  FCTREE_DEVICE std::int64_t before(std::int64_t band) const {
    const std::int64_t all = kBand * band * n_columns;
    return symmetric ? all - kBand * kBand * (band * (band - 1) / 2) : all;
  }
  FCTREE_DEVICE std::int64_t per_problem() const {
    const std::int64_t last = n_bands() - 1;
    return before(last) + height(last) * (n_columns - first_column(last));
  }
  FCTREE_DEVICE std::int64_t size() const { return n_problems * per_problem(); }
};

struct TilePosition {
  std::int64_t problem, row, column;
  bool computed;
};

FCTREE_DEVICE inline TilePosition tile_position(const TileGrid& grid, std::int64_t index) {
  const std::int64_t per_problem = grid.per_problem();
  const std::int64_t problem = index / per_problem, rest = index - problem * per_problem;
  std::int64_t band = 0, end = grid.n_bands();
  while (end - band > 1) {
    const std::int64_t middle = (band + end) / 2;
    if (grid.before(middle) <= rest) band = middle;
    else end = middle;
  }
  const std::int64_t height = grid.height(band), within = rest - grid.before(band);
  const std::int64_t column = grid.first_column(band) + within / height;
  const std::int64_t row = band * kBand + within % height;
  return {problem, row, column, !grid.symmetric || column >= row};
}

}  // namespace fctree::cuda::FCTREE_ISA
