// One level of a symmetric tree on rows that lie in several places: each place counts its shard of
// the rows, the counts are added up, and the split is chosen from the sums.
//
// Everything that is added is an integer, so neither the cut of the rows into shards nor the order
// of the additions changes a bit of the tree: it is the one that boost() would grow from all rows.
#pragma once

#include <optional>
#include <vector>

#include "boosting/candidate_choice.hpp"
#include "boosting/leaf_values.hpp"

namespace fctree {

// The rows of one shard: their codes, gradients as channels with units that hold for all shards,
// and the leaf that each is in.
struct ShardRows {
  const BinnedMatrix& x;
  const Tiles& tiles;
  const Channels& channels;
  LeafAssignment leaves;
};

// Cells of the histograms that a level counts: 8 bytes each.
index_t count_cells(const BinnedMatrix& x, index_t n_channels, index_t n_counted);

// The histograms of the root (smaller_is_right empty), or of the child with fewer rows of each
// leaf above, as LevelScores takes them. O(n + n_c d), n_c rows in the leaves that are counted.
void count_level(const ShardRows& rows, const std::vector<std::uint8_t>& smaller_is_right,
                 std::int64_t* out, const Execution& execution);

// leaf[i] = 2 leaf[i] + the answer of row i. O(n).
void descend_leaves(const BinnedMatrix& x, const LevelSplit& split, const Tiles& tiles,
                    std::uint16_t* leaf, const Execution& execution);

// The rows of the bag of an iteration: rows begin .. begin + n of all are in_bag[0] .. [n - 1].
void draw_rows(const BoostingParams& params, index_t iteration, index_t begin, index_t n,
               std::uint8_t* in_bag);

// What a tree's next level is chosen from: the shape of the bins, and for each level so far the
// sums of the shards' counts.
struct LevelTask {
  const BinnedMatrix& shape;
  ChannelUnits units;
  std::vector<const std::int64_t*> counted;
  const std::int8_t* monotone;  // (n_features,) or null
  NoiseScale noise;
};

struct LevelChoice {
  std::optional<LevelSplit> split;  // none where nothing can be split
  std::vector<std::uint8_t> smaller_is_right;
};

// `above` are the splits of the levels before the last of task.counted. O(2^level b d).
LevelChoice choose_level(const LevelTask& task, const BoostingParams& params,
                         const std::vector<LevelSplit>& above, const Execution& execution);

}  // namespace fctree
