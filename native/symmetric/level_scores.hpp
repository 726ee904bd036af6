// One level of a symmetric tree: the histograms of all leaves and from them the score of every
// candidate, which all leaves of the level share.
//
// A score adds up leaves in order, whatever tasks score the codes: the same bytes for any threads.
#pragma once

#include <vector>

#include "symmetric/level_histograms.hpp"
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
  std::vector<double> highest;  // of each range of codes that was a task
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

  // From now on of these rows, in one leaf, with this penalty.
  void restart(const RowsByLeaf& rows, double l2_leaf_reg, const Execution& execution);
  // Appends the loops that find histograms and scores of the root, then of each further level after
  // descend().
  void compute(const Execution& execution, std::vector<Phase>& phases);
  // Makes `split` the last level's: the next compute() is of the leaves below it.
  void descend(const LevelSplit& split);

  const GroupScores& group(index_t g) const { return groups_[g]; }
  const GroupScores& group_of(index_t feature) const { return groups_[x_.group_index(feature)]; }
  const LevelHistograms& histograms() const { return histograms_; }
  // The sum of S^2 / (W + l2) over the current leaves, without a further cut.
  double current_score() const { return current_score_; }

 private:
  using LeafCells = LevelHistograms::LeafCells;
  // CutScores of a group, for one side of missing values.
  struct SideSums {
    std::vector<double> sums[3];
  };

  CodeRange all_codes(index_t g) const { return {0, x_.groups()[g].n_codes}; }
  void score_group(index_t g, const Partition& ranges, index_t range);
  void score_group_anew(index_t g);
  void start_sides(index_t g, const CodeRange& codes, SideSums* sides) const;
  void score_leaf(index_t g, const LeafCells& cells, const CodeRange& codes, SideSums* sides);
  void combine_sides(index_t g, const CodeRange& codes, const SideSums* sides);
  void take_side(index_t g, const CodeRange& codes, bool missing_left, const SideSums& side);
  void take_roots(index_t g, const CodeRange& codes, const SideSums& side);
  double highest_score(index_t g, const CodeRange& codes) const;
  double root_score(const LeafCells& cells) const;

  const BinnedMatrix& x_;
  const QuantizedGradients& channels_;
  LevelRules rules_;
  LevelHistograms histograms_;
  double l2_leaf_reg_ = 0.0;
  double current_score_ = 0.0;
  std::vector<GroupScores> groups_;
};

}  // namespace fctree::symmetric
