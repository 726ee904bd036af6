// The samples in consecutive tiles of nearly equal length, each short enough that its codes
// for a group of features stay in the cache and that 16 bits number its samples.
#pragma once

#include "core/parallel.hpp"

namespace fctree::symmetric {

constexpr index_t kTileRows = 32768;
constexpr index_t kLeastTileRows = 4096;
constexpr index_t kTilesForThreads = 64;

// Cut by the number of samples alone.
class Tiles {
 public:
  explicit Tiles(index_t n_samples)
      : parts_(partition_range(
            n_samples, kLeastTileRows,
            (n_samples + kTileRows - 1) / kTileRows < kTilesForThreads
                ? kTilesForThreads
                : (n_samples + kTileRows - 1) / kTileRows)) {}

  index_t count() const { return parts_.n_parts; }
  index_t n_samples() const { return parts_.size; }
  index_t begin(index_t tile) const { return parts_.begin(tile); }
  index_t end(index_t tile) const { return parts_.end(tile); }
  index_t length(index_t tile) const { return end(tile) - begin(tile); }

 private:
  Partition parts_;
};

}  // namespace fctree::symmetric
