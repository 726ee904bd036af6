// One symmetric tree: at each level the candidate that scores best over all leaves.
//
//   channels    gradients as fixed-point numbers (quantized_gradients.hpp)
//   rows        the sampled rows, by leaf (leaf_rows.hpp)
//   scores      histograms and scores of a level's candidates (level_scores.hpp)
//   choice      the best after noise (candidate_choice.hpp)
#pragma once

#include <vector>

#include "symmetric/candidate_choice.hpp"
#include "symmetric/interactions.hpp"
#include "symmetric/sampled_rows.hpp"

namespace fctree::symmetric {

// Optional inputs of growing; null for none.
struct GrowthRules {
  const double* weight;         // (n_samples,)
  const std::int8_t* monotone;  // (n_features,)
  const std::uint8_t* masked;   // (n_features,) features that no split may use
  InteractionRules interactions;
};

class TreeGrower {
 public:
  // x, tiles and params are kept by reference. What is grown does not depend on the tiles.
  TreeGrower(const BinnedMatrix& x, const Tiles& tiles, const BoostingParams& params,
             const GrowthRules& rules, index_t n_outputs, const SampleTotals& totals);

  // The splits of one tree for these gradients (n_outputs, n_samples), from the root down;
  // fewer than max_depth where nothing can be split.
  std::vector<LevelSplit> grow(const double* gradient, const DerivativeScale& scale,
                               const RowSample& sample, index_t iteration,
                               const Execution& execution);

 private:
  void sample_features(index_t iteration);
  // The sum of w g^2 over a tile.
  TwoWords sum_squares(const double* gradient, const FixedPoint& fixed, index_t tile) const;
  // Fills the rows of all tiles; returns the root mean square of the gradients if noise goes by it, else 0.
  double start_rows(const double* gradient, const DerivativeScale& scale, const RowSample& sample,
                    bool has_noise, const Execution& execution);
  // Of the noise of scores from a sample: what is left of `random_strength`.
  double drawn_strength(index_t one_of) const;

  const BinnedMatrix& x_;
  const Tiles& tiles_;
  const BoostingParams& params_;
  GrowthRules rules_;
  double total_weight_;
  index_t n_outputs_;
  std::vector<std::uint8_t> feature_used_;
  InteractionLimits interactions_;
  QuantizedGradients channels_;
  RowsByLeaf rows_;
  LevelScores scores_;
  CandidateChoice choice_;
};

// leaf[i] = the leaf of each sample begin .. end - 1: the answers as bits, the root's the highest.
// O(n depth).
void find_leaves(const BinnedMatrix& x, const std::vector<LevelSplit>& splits, index_t begin,
                 index_t end, std::uint16_t* leaf);

}  // namespace fctree::symmetric
