// The sampled rows of each tile, ordered by leaf, with their channels: the input of the leaves'
// histograms. A level's split partitions each leaf's rows.
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "symmetric/binned.hpp"
#include "symmetric/histogram_kernels.hpp"
#include "symmetric/quantized_gradients.hpp"
#include "symmetric/sampled_rows.hpp"
#include "symmetric/tiles.hpp"

namespace fctree::symmetric {

// One level of a symmetric tree: samples with a code above `code` go right.
struct LevelSplit {
  index_t feature;
  index_t code;
  bool missing_right;
  double gain;  // its increase of the sum of S^2 / (W + l2) over the leaves
};

// The codes of the split's feature that go right: those above `code`, the missing one (the
// highest) only if missing_right.
class RightCodes {
 public:
  RightCodes(const LevelSplit& split, const FeatureGroup& group)
      : lowest_(static_cast<std::uint32_t>(split.code + 1)),
        count_(static_cast<std::uint32_t>(group.missing_code() + (split.missing_right ? 1 : 0)) -
               lowest_) {}
  bool contain(std::uint8_t code) const { return code - lowest_ < count_; }

 private:
  std::uint32_t lowest_;
  std::uint32_t count_;
};

class RowsByLeaf {
 public:
  RowsByLeaf(const Tiles& tiles, const QuantizedGradients& channels, index_t max_depth);

  // These samples in one leaf: then reset_tile() is to be called for all tiles.
  void reset(const RowSample& sample);
  void reset_tile(index_t tile);
  // Leaf j becomes leaves 2 j (left) and 2 j + 1: then split_tile() is to be. O(n) channels.
  void split();
  void split_tile(const BinnedMatrix& x, const LevelSplit& split, index_t tile);

  LeafRows rows(index_t tile, index_t leaf, index_t channel) const;
  index_t one_of() const { return sample_.one_of; }
  // Whether rows of the block that begins with this sample are to be expected: a guess where a piece of all
  // places' rows begins within a block.
  bool may_have(index_t sample) const { return sample_.one_of == 1 || sample_.drawn[sample] != 0; }

 private:
  index_t* begins(index_t tile, int side) { return begins_[side].data() + tile * stride_; }

  const Tiles& tiles_;
  const QuantizedGradients& channels_;
  index_t stride_;
  RowSample sample_ = {nullptr, 1};
  index_t n_leaves_ = 1;
  int side_ = 0;  // which of the two buffers is current
  Buffer<std::uint16_t> rows_[2];
  std::vector<Buffer<std::int64_t>> values_[2];  // one per channel
  std::vector<index_t> begins_[2];  // a tile's leaves begin here, counted within the tile
};

// Some consecutive tiles.
struct Stretch {
  index_t first;
  index_t last;
};

// Adds up the rows of some leaves over the features of one group: leaf leaves[i], channel c into
// cells[c * leaves.size() + i]. Tile by tile, while the tile's codes are in the cache.
class LeafCounter {
 public:
  LeafCounter(const BinnedMatrix& x, const Tiles& tiles, const RowsByLeaf& rows)
      : x_(x), tiles_(tiles), rows_(rows) {}

  void count(const FeatureGroup& group, const Stretch& stretch, const std::vector<index_t>& leaves,
             const std::vector<std::int64_t*>& cells) const;

 private:
  const BinnedMatrix& x_;
  const Tiles& tiles_;
  const RowsByLeaf& rows_;
};

}  // namespace fctree::symmetric
