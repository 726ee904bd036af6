// One level of a symmetric tree: the histograms of all leaves and from them the score of every
// candidate, which all leaves of the level share.
//
// Only the smaller child of each leaf is counted, the other is parent minus sibling. Histograms
// of a group of features are one task: O(n d / 2) additions and O(2^level b d) cells per level.
// Where those would take too much memory, wide tables or deep trees, no histogram outlives its
// task: each level counts all its leaves anew, a few at a time. Sums are of integers: the same.
#pragma once

#include <vector>

#include "symmetric/leaf_rows.hpp"
#include "symmetric/params.hpp"

namespace fctree::symmetric {

// Scores within this relative difference count as equal: the first of them wins, so that a sample
// of weight 2 and the sample twice give the same tree.
constexpr double kTie = 1e-11;

// Scores of a group's candidates, (n_codes, kCellLanes) each; -inf for no candidate. Normal noise
// is on the scale of gradients: with it the l2 score is replaced by its square root.
struct GroupScores {
  std::vector<double> score;
  std::vector<double> gain_base;  // sum of S^2 / (W + l2) over the new leaves
  std::vector<std::uint8_t> missing_right;
};

struct LevelRules {
  const BoostingParams& params;
  const std::int8_t* monotone;       // (n_features,) or null
  const std::uint8_t* feature_used;  // (n_features,) or null: features that may be split
};

class LevelScores {
 public:
  LevelScores(const BinnedMatrix& x, const Tiles& tiles, const QuantizedGradients& channels,
              const LevelRules& rules);

  // Histograms and scores of the root, then of each further level after descend().
  void compute(const RowsByLeaf& rows, const Execution& execution);
  // Makes `split` the last level's: the next compute() is of the leaves below it.
  void descend(const LevelSplit& split);
  void restart();

  const GroupScores& group(index_t g) const { return groups_[g]; }
  // The sum of S^2 / (W + l2) over the current leaves, without a further cut.
  double current_score() const { return current_score_; }
  // Whether `split` sends more than half of the sampled rows right.
  bool sends_most_right(const LevelSplit& split) const;

 private:
  // CutScores of a group, for one side of missing values.
  struct SideSums {
    std::vector<double> sums[3];
  };
  // Sampled rows of a leaf, and those of them right of a split.
  struct LeafCount {
    index_t all = 0;
    index_t right = 0;
  };

  // Where a leaf's histogram begins in this level's (side_) or the last level's buffer.
  index_t histogram_offset(index_t g, int side, index_t channel, index_t leaf) const;
  std::int64_t* histogram(index_t g, int side, index_t channel, index_t leaf);
  index_t leaf_stride(index_t g) const;
  bool too_large_to_keep() const;
  std::vector<LeafCount> count_leaves_by(const LevelSplit& split) const;
  LeafCount count_in_histogram(index_t leaf, const LevelSplit& split) const;
  LeafCount count_in_rows(index_t leaf, const LevelSplit& split) const;
  void compute_group(index_t g);
  void compute_group_anew(index_t g);
  std::vector<std::int64_t*> counted_leaves(index_t g);
  void count_smaller(index_t g, const RowsByLeaf& rows);
  void add_up_counts(const Execution& execution);
  void score_group(index_t g);
  void start_sides(index_t g, SideSums* sides) const;
  void score_leaf(index_t g, const std::vector<const std::int64_t*>& channels, SideSums* sides);
  void combine_sides(index_t g, bool missing_left, const SideSums& side);
  void take_roots(index_t g, double least, const SideSums& side);
  double root_score(const std::vector<const std::int64_t*>& channels) const;

  const BinnedMatrix& x_;
  const Tiles& tiles_;
  const QuantizedGradients& channels_;
  LevelRules rules_;
  index_t n_leaves_ = 1;
  double current_score_ = 0.0;
  int side_ = 0;
  std::vector<std::uint8_t> smaller_is_right_;  // for each leaf that was split
  std::vector<std::uint8_t> is_empty_;
  const RowsByLeaf* rows_ = nullptr;  // where leaves are counted anew, else null
  // [group][channel][leaf][code][lane], this level's and the next
  std::vector<std::vector<std::int64_t>> histograms_[2];
  std::vector<GroupScores> groups_;
  std::vector<std::int64_t> counts_;  // of all groups, while they are added up
};

}  // namespace fctree::symmetric
