#include "boosting/predict.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "boosting/scan.hpp"
#include "boosting/vote.hpp"

namespace fctree {

namespace {

constexpr index_t kRowsOneByOne = 32;  // below this many, binning costs more than it saves
constexpr index_t kReadTogether = 8;   // features, about a cache line of a row
constexpr index_t kMostThresholds = 254;
constexpr std::uint8_t kMissing = 255;

index_t depth_of(const SymmetricTreesView& trees, index_t tree) {
  const std::int32_t* features = trees.split_feature + tree * trees.max_depth;
  index_t depth = 0;
  while (depth < trees.max_depth && features[depth] >= 0) ++depth;
  return depth;
}

index_t leaf_of(const SymmetricTreesView& trees, index_t tree, const FeatureMatrix& x,
                index_t row) {
  index_t leaf = 0;
  const index_t first = tree * trees.max_depth;
  for (index_t level = 0; level < trees.max_depth; ++level) {
    const std::int32_t feature = trees.split_feature[first + level];
    if (feature < 0) return leaf << (trees.max_depth - level);
    const double value = x(row, feature);
    const bool right = std::isnan(value) ? trees.missing_right[first + level] != 0
                                         : value > trees.split_threshold[first + level];
    leaf = 2 * leaf + right;
  }
  return leaf;
}

void add_one_by_one(const SymmetricTreesView& trees, const FeatureMatrix& x,
                    const ScoreUpdate& update, index_t row, double* score) {
  for (index_t tree = 0; tree < trees.n_trees; ++tree) {
    const index_t leaf = tree * trees.n_leaves() + leaf_of(trees, tree, x, row);
    const double* value = trees.leaf_values + leaf * trees.n_outputs;
    for (index_t k = 0; k < trees.n_outputs; ++k) {
      if (update.keep != nullptr) {
        const double origin = update.origin[row * trees.n_outputs + k];
        score[k] = origin + update.keep[tree] * (score[k] - origin);
      }
      score[k] += value[k];
    }
  }
}

// The trees with thresholds replaced by their ranks among those used of the same feature.
class RankedTrees {
 public:
  explicit RankedTrees(const SymmetricTreesView& trees, index_t n_features)
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

  // Whether ranks fit a byte.
  bool fits() const { return fits_; }

  // Adds the trees to the scores (kVoteRows, n_outputs) of rows begin .. begin + n.
  void add(const FeatureMatrix& x, index_t begin, index_t n, double* scores) const {
    const index_t n_used = static_cast<index_t>(features_.size());
    // A feature's codes, and once more with missing values as the lowest of all.
    std::vector<std::uint8_t> codes(2 * n_used * kVoteRows, 0);
    std::vector<std::uint8_t> has_missing(n_used);
    double values[kReadTogether * kVoteRows];
    for (index_t slot = 0; slot < n_used; ++slot) {
      const index_t place = slot % kReadTogether;
      if (place == 0)
        x.copy_columns(&features_[slot], std::min(kReadTogether, n_used - slot), begin, begin + n,
                       values);
      std::uint8_t* missing_high = codes.data() + 2 * slot * kVoteRows;
      has_missing[slot] =
          scan_kernels().find_codes(searches_[slot], values + place * n, n, missing_high);
      if (!has_missing[slot]) continue;
      for (index_t i = 0; i < n; ++i)
        missing_high[kVoteRows + i] = missing_high[i] == kMissing ? 0 : missing_high[i];
    }
    std::vector<const std::uint8_t*> level_codes(kVoteTrees * trees_.max_depth);
    BlockTree together[kVoteTrees];
    for (index_t first = 0; first < trees_.n_trees; first += kVoteTrees) {
      const index_t n_trees = std::min(kVoteTrees, trees_.n_trees - first);
      for (index_t t = 0; t < n_trees; ++t) {
        const index_t tree = first + t, splits = tree * trees_.max_depth;
        const std::uint8_t** codes_of = level_codes.data() + t * trees_.max_depth;
        for (index_t level = 0; level < depths_[tree]; ++level) {
          const index_t slot = slot_[trees_.split_feature[splits + level]];
          const bool low = has_missing[slot] && !trees_.missing_right[splits + level];
          codes_of[level] = codes.data() + (2 * slot + (low ? 1 : 0)) * kVoteRows;
        }
        together[t] = {codes_of, borders_.data() + splits, depths_[tree],
                       trees_.max_depth - depths_[tree],
                       trees_.leaf_values + tree * trees_.n_leaves() * trees_.n_outputs,
                       trees_.n_outputs};
      }
      vote_kernels().add_trees(together, n_trees, scores);
    }
  }

 private:
  SymmetricTreesView trees_;
  std::vector<index_t> slot_;  // of each feature among those used, or -1
  std::vector<index_t> features_;
  std::vector<std::vector<double>> thresholds_;
  std::vector<ThresholdSearch> searches_;
  std::vector<std::uint8_t> borders_;  // (n_trees, max_depth)
  std::vector<index_t> depths_;        // levels that each tree has
  bool fits_ = true;
};

double work_of(const SymmetricTreesView& trees, index_t n_rows) {
  return 2.0 * static_cast<double>(n_rows) * static_cast<double>(trees.n_trees);
}

}  // namespace

void add_trees(const SymmetricTreesView& trees, const FeatureMatrix& x, const ScoreUpdate& update,
               double* scores, const Execution& execution) {
  const index_t n_outputs = trees.n_outputs;
  const Execution limited = limit_threads(execution, work_of(trees, x.n_samples));
  const Partition blocks = {x.n_samples, (x.n_samples + kVoteRows - 1) / kVoteRows};
  const auto add_block_by_rows = [&](index_t b) {
    const index_t end = std::min(x.n_samples, (b + 1) * kVoteRows);
    for (index_t row = b * kVoteRows; row < end; ++row)
      add_one_by_one(trees, x, update, row, scores + row * n_outputs);
  };
  if (x.n_samples < kRowsOneByOne || update.keep != nullptr) {
    parallel_for(limited, blocks.n_parts, add_block_by_rows);
    return;
  }
  const RankedTrees ranked(trees, x.n_features);
  if (!ranked.fits()) {
    parallel_for(limited, blocks.n_parts, add_block_by_rows);
    return;
  }
  parallel_for(limited, blocks.n_parts, [&](index_t b) {
    const index_t begin = b * kVoteRows, n = std::min(kVoteRows, x.n_samples - begin);
    if (n == kVoteRows) {
      ranked.add(x, begin, n, scores + begin * n_outputs);
      return;
    }
    std::vector<double> last(kVoteRows * n_outputs, 0.0);
    std::copy(scores + begin * n_outputs, scores + (begin + n) * n_outputs, last.begin());
    ranked.add(x, begin, n, last.data());
    std::copy(last.begin(), last.begin() + n * n_outputs, scores + begin * n_outputs);
  });
}

void apply_trees(const SymmetricTreesView& trees, const FeatureMatrix& x, std::int32_t* leaf,
                 const Execution& execution) {
  const Execution limited = limit_threads(execution, 4.0 * work_of(trees, x.n_samples));
  const index_t n_blocks = (x.n_samples + kVoteRows - 1) / kVoteRows;
  parallel_for(limited, n_blocks, [&](index_t b) {
    const index_t end = std::min(x.n_samples, (b + 1) * kVoteRows);
    for (index_t row = b * kVoteRows; row < end; ++row)
      for (index_t tree = 0; tree < trees.n_trees; ++tree)
        leaf[row * trees.n_trees + tree] =
            static_cast<std::int32_t>(leaf_of(trees, tree, x, row));
  });
}

}  // namespace fctree
