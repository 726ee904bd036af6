// Trees with thresholds replaced by their ranks among those used for the same feature: rows are
// binned once, by these thresholds, and then cost one comparison of bytes per level.
#pragma once

#include <vector>

#include "symmetric/feature_matrix.hpp"
#include "symmetric/histogram_kernels.hpp"
#include "symmetric/model.hpp"
#include "symmetric/predict_kernels.hpp"

namespace fctree::symmetric {

// Of a block of rows: for each feature that the trees use kPredictedRows codes, missing values the
// highest, and where there are any the codes once more with missing values the lowest.
struct BlockCodes {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> has_missing;
};

// Features whose codes are taken from `codes` instead; none if `masked` is null.
struct Replacement {
  const std::uint8_t* masked;  // (n_features,)
  const BlockCodes* codes;
};

class RankedTrees {
 public:
  RankedTrees(const SymmetricTreesView& trees, index_t n_features);

  // Whether ranks fit a byte; otherwise nothing else may be called.
  bool fits() const { return fits_; }

  // The codes of rows begin .. begin + n, n <= kPredictedRows. O(d' log b) per row, d' features
  // used.
  BlockCodes find_codes(const FeatureMatrix& x, index_t begin, index_t n) const;

  // Adds the trees to the scores (kPredictedRows, n_outputs) of the block, in order.
  void add(const BlockCodes& codes, const Replacement& replacement, double* scores) const;

 private:
  SymmetricTreesView trees_;
  std::vector<index_t> slot_;  // of each feature among those used, or -1
  std::vector<index_t> features_;
  std::vector<std::vector<double>> thresholds_;
  std::vector<ThresholdSearch> searches_;
  std::vector<std::uint8_t> borders_;  // (n_trees, max_depth)
  std::vector<index_t> depths_;        // depth of each tree
  bool fits_ = true;
};

}  // namespace fctree::symmetric
