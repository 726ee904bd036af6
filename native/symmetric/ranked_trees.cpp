#include "symmetric/ranked_trees.hpp"

#include <algorithm>

namespace fctree::symmetric {

namespace {

constexpr index_t kMostThresholds = 254;
constexpr std::uint8_t kMissing = 255;
constexpr index_t kReadTogether = 8;  // features, about a cache line of a row

index_t depth_of(const SymmetricTreesView& trees, index_t tree) {
  const std::int32_t* features = trees.split_feature + tree * trees.max_depth;
  index_t depth = 0;
  while (depth < trees.max_depth && features[depth] >= 0) ++depth;
  return depth;
}

}  // namespace

RankedTrees::RankedTrees(const SymmetricTreesView& trees, index_t n_features)
    : trees_(trees), slot_(n_features, -1) {
  const index_t n_splits = trees.n_trees * trees.max_depth;
  for (index_t i = 0; i < n_splits; ++i)
    if (trees.split_feature[i] >= 0) slot_[trees.split_feature[i]] = 0;
  for (index_t feature = 0; feature < n_features; ++feature) {
    if (slot_[feature] < 0) continue;
    slot_[feature] = static_cast<index_t>(features_.size());
    features_.push_back(feature);
  }
  thresholds_.resize(features_.size());
  for (index_t i = 0; i < n_splits; ++i)
    if (trees.split_feature[i] >= 0)
      thresholds_[slot_[trees.split_feature[i]]].push_back(trees.split_threshold[i]);
  for (std::vector<double>& values : thresholds_) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    fits_ &= static_cast<index_t>(values.size()) <= kMostThresholds;
  }
  if (!fits_) return;
  for (index_t i = 0; i < n_splits; ++i) {
    const std::int32_t feature = trees.split_feature[i];
    if (feature < 0) {
      borders_.push_back(0);
      continue;
    }
    const std::vector<double>& values = thresholds_[slot_[feature]];
    const auto at = std::lower_bound(values.begin(), values.end(), trees.split_threshold[i]);
    borders_.push_back(static_cast<std::uint8_t>(at - values.begin()));
  }
  for (index_t tree = 0; tree < trees.n_trees; ++tree) depths_.push_back(depth_of(trees, tree));
  for (const std::vector<double>& values : thresholds_)
    searches_.emplace_back(values.data(), static_cast<std::int64_t>(values.size()), kMissing);
}

BlockCodes RankedTrees::find_codes(const FeatureMatrix& x, index_t begin, index_t n) const {
  const index_t n_used = static_cast<index_t>(features_.size());
  BlockCodes found = {std::vector<std::uint8_t>(2 * n_used * kPredictedRows, 0),
                      std::vector<std::uint8_t>(n_used)};
  double values[kReadTogether * kPredictedRows];
  for (index_t slot = 0; slot < n_used; ++slot) {
    const index_t place = slot % kReadTogether;
    if (place == 0)
      x.copy_columns(&features_[slot], std::min(kReadTogether, n_used - slot), begin, begin + n,
                     values);
    std::uint8_t* missing_high = found.codes.data() + 2 * slot * kPredictedRows;
    found.has_missing[slot] =
        histogram_kernels().find_codes(searches_[slot], values + place * n, n, missing_high);
    if (!found.has_missing[slot]) continue;
    for (index_t i = 0; i < n; ++i)
      missing_high[kPredictedRows + i] = missing_high[i] == kMissing ? 0 : missing_high[i];
  }
  return found;
}

void RankedTrees::add(const BlockCodes& codes, const Replacement& replacement,
                      double* scores) const {
  std::vector<const std::uint8_t*> level_codes(kPredictedTrees * trees_.max_depth);
  BlockTree together[kPredictedTrees];
  for (index_t first = 0; first < trees_.n_trees; first += kPredictedTrees) {
    const index_t n_trees = std::min(kPredictedTrees, trees_.n_trees - first);
    for (index_t t = 0; t < n_trees; ++t) {
      const index_t tree = first + t, splits = tree * trees_.max_depth;
      const std::uint8_t** codes_of = level_codes.data() + t * trees_.max_depth;
      for (index_t level = 0; level < depths_[tree]; ++level) {
        const index_t feature = trees_.split_feature[splits + level];
        const bool replaced = replacement.masked != nullptr && replacement.masked[feature] != 0;
        const BlockCodes& source = replaced ? *replacement.codes : codes;
        const index_t slot = slot_[feature];
        const bool low = source.has_missing[slot] && !trees_.missing_right[splits + level];
        codes_of[level] = source.codes.data() + (2 * slot + (low ? 1 : 0)) * kPredictedRows;
      }
      together[t] = {codes_of, borders_.data() + splits, depths_[tree],
                     trees_.max_depth - depths_[tree],
                     trees_.leaf_values + tree * trees_.n_leaves() * trees_.n_outputs,
                     trees_.n_outputs};
    }
    predict_kernels().add_trees(together, n_trees, scores);
  }
}

}  // namespace fctree::symmetric
