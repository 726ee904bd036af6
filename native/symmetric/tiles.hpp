// The samples in consecutive tiles of nearly equal length, each short enough that its codes
// for a group of features stay in the cache and that 16 bits number its samples.
#pragma once

#include <algorithm>

#include "core/parallel.hpp"

namespace fctree::symmetric {

constexpr index_t kTileRows = 32768;
constexpr index_t kLeastTileRows = 4096;
constexpr index_t kTilesForThreads = 64;

// Cut by the number of samples alone.
class Tiles {
 public:
  explicit Tiles(index_t n_samples) : Tiles(n_samples, kLeastTileRows, kTilesForThreads) {}

  // For loops of integers or of samples on their own, whose results do not depend on the tiles: several for
  // each of many threads.
  static Tiles for_threads(index_t n_samples, int n_threads) {
    constexpr int kFewThreads = 4;
    if (n_threads <= kFewThreads) return Tiles(n_samples);
    return {n_samples, kLeastTileRows / 4, std::max<index_t>(kTilesForThreads, 4 * n_threads)};
  }

  index_t count() const { return parts_.n_parts; }
  index_t n_samples() const { return parts_.size; }
  index_t begin(index_t tile) const { return parts_.begin(tile); }
  index_t end(index_t tile) const { return parts_.end(tile); }

 private:
  Tiles(index_t n_samples, index_t least_rows, index_t n_tiles)
      : parts_(partition_range(n_samples, least_rows,
                               std::max(n_tiles, count_parts(n_samples, kTileRows)))) {}

  Partition parts_;
};

}  // namespace fctree::symmetric
