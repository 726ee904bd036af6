// Symmetric trees on rows that lie in several places: each place counts its shard of the rows, the
// counts are added up, and the split is chosen from the sums.
//
// Everything that is added is an integer, so neither the cut of the rows into shards nor the order
// of the additions changes a bit of the tree: it is the one that boost() would grow from all rows.
#pragma once

#include <optional>
#include <vector>

#include "symmetric/candidate_choice.hpp"

namespace fctree::distributed {

using namespace symmetric;

// The rows of one shard, in the order of the leaves of the tree that is being grown.
class Shard {
 public:
  // The codes behind x and the weights (null without) stay the caller's.
  Shard(const BinnedMatrix& x, const double* weight, index_t max_depth);
  Shard(const Shard&) = delete;

  const BinnedMatrix& x() const { return x_; }
  const Tiles& tiles() const { return tiles_; }

  // A new tree for these gradients (n_outputs, n_samples), of the rows with in_bag[i] not 0 (null:
  // all); units that hold for all shards.
  void start(const double* gradient, const ChannelUnits& units, const std::uint8_t* in_bag,
             const Execution& execution);
  void split(const LevelSplit& split, const Execution& execution);
  // The histograms of the root (smaller_is_right empty), or of the child with fewer rows of each
  // leaf above, as Chooser takes them, n_cells(leaves above) in all. O(n_c d), n_c rows in the
  // leaves that are counted.
  void count(const std::vector<std::uint8_t>& smaller_is_right, std::int64_t* out,
             const Execution& execution) const;
  index_t n_cells(index_t n_above) const;

 private:
  BinnedMatrix x_;
  Tiles tiles_;
  const double* weight_;
  index_t max_depth_;
  std::optional<QuantizedGradients> channels_;
  std::optional<RowsByLeaf> rows_;
};

// The rows of the bag of an iteration: rows begin .. begin + n of all are in_bag[0] .. [n - 1].
void draw_rows(const BoostingParams& params, index_t iteration, index_t begin, index_t n,
               std::uint8_t* in_bag);

struct LevelChoice {
  std::optional<LevelSplit> split;  // none where nothing can be split
  std::vector<std::uint8_t> smaller_is_right;
};

// Chooses the splits of trees, level by level, from the sums of the shards' counts.
class Chooser {
 public:
  // x is the shape of the bins; monotone (n_features,) or null stays the caller's.
  Chooser(const BinnedMatrix& x, const BoostingParams& params, const std::int8_t* monotone);
  Chooser(const Chooser&) = delete;

  // A new tree, whose channels have these units.
  void start(const ChannelUnits& units, const NoiseScale& noise);
  // The next level's split. O(2^level b d).
  LevelChoice choose(const std::int64_t* counted, const Execution& execution);

 private:
  BinnedMatrix x_;
  BoostingParams params_;
  const std::int8_t* monotone_;
  Tiles no_tiles_;
  std::vector<std::uint8_t> feature_used_;
  std::optional<QuantizedGradients> channels_;
  std::optional<LevelScores> scores_;
  CandidateChoice choice_;
  NoiseScale noise_;
  std::vector<LevelSplit> splits_;
};

}  // namespace fctree::distributed
