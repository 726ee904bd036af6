#include "symmetric/predict.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/finite.hpp"
#include "symmetric/ranked_trees.hpp"

namespace fctree::symmetric {

namespace {

constexpr index_t kRowsOneByOne = 32;  // below this many, binning costs more than it saves
constexpr Replacement kNone = {nullptr, nullptr};

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

void add_one_by_one(const SymmetricTreesView& trees, const FeatureMatrix& x, index_t row,
                    double* score) {
  for (index_t tree = 0; tree < trees.n_trees; ++tree) {
    const index_t leaf = tree * trees.n_leaves() + leaf_of(trees, tree, x, row);
    const double* value = trees.leaf_values + leaf * trees.n_outputs;
    for (index_t k = 0; k < trees.n_outputs; ++k) score[k] += value[k];
  }
}

double work_of(const SymmetricTreesView& trees, index_t n_rows) {
  return static_cast<double>(n_rows * trees.n_trees * trees.max_depth);
}

void add_rows_one_by_one(const SymmetricTreesView& trees, const FeatureMatrix& x, index_t block,
                         double* scores) {
  const index_t end = std::min(x.n_samples, (block + 1) * kPredictedRows);
  for (index_t row = block * kPredictedRows; row < end; ++row)
    add_one_by_one(trees, x, row, scores + row * trees.n_outputs);
}

void add_ranked(const RankedTrees& ranked, const FeatureMatrix& x, index_t block, index_t n_outputs,
                double* scores) {
  const index_t begin = block * kPredictedRows, n = std::min(kPredictedRows, x.n_samples - begin);
  scores += begin * n_outputs;
  if (n == kPredictedRows) {
    ranked.add(ranked.find_codes(x, begin, n), kNone, scores);
    return;
  }
  std::vector<double> last(kPredictedRows * n_outputs, 0.0);
  std::copy(scores, scores + n * n_outputs, last.begin());
  ranked.add(ranked.find_codes(x, begin, n), kNone, last.data());
  std::copy(last.begin(), last.begin() + n * n_outputs, scores);
}

// Calls visit(block, add) for all blocks of rows, where add(block) adds the trees to their scores.
template <class Visit>
void for_blocks(const SymmetricTreesView& trees, const FeatureMatrix& x, double* scores,
                const Execution& execution, const Visit& visit) {
  const Execution limited = limit_threads(execution, work_of(trees, x.n_samples));
  const index_t n_blocks = count_parts(x.n_samples, kPredictedRows);
  if (x.n_samples >= kRowsOneByOne) {
    const RankedTrees ranked(trees, x.n_features);
    if (ranked.fits()) {
      const auto add = [&](index_t block) { add_ranked(ranked, x, block, trees.n_outputs, scores); };
      parallel_for(limited, n_blocks, [&](index_t block) { visit(block, add); });
      return;
    }
  }
  const auto add = [&](index_t block) { add_rows_one_by_one(trees, x, block, scores); };
  parallel_for(limited, n_blocks, [&](index_t block) { visit(block, add); });
}

}  // namespace

void add_trees(const SymmetricTreesView& trees, const FeatureMatrix& x, double* scores,
               const Execution& execution) {
  for_blocks(trees, x, scores, execution, [](index_t block, const auto& add) { add(block); });
}

bool find_scores(const SymmetricTreesView& trees, const FeatureMatrix& x, const double* start,
                 double* scores, const Execution& execution) {
  std::atomic<bool> finite{true};
  for_blocks(trees, x, scores, execution, [&](index_t block, const auto& add) {
    const index_t first = block * kPredictedRows;
    const index_t end = std::min(x.n_samples, first + kPredictedRows);
    double* rows = scores + first * trees.n_outputs;
    if (trees.n_outputs == 1)
      std::fill_n(rows, end - first, *start);
    else
      for (index_t i = 0; i < end - first; ++i)
        std::copy(start, start + trees.n_outputs, rows + i * trees.n_outputs);
    add(block);
    if (!are_finite(rows, (end - first) * trees.n_outputs, {})) finite = false;
  });
  return finite;
}

void apply_trees(const SymmetricTreesView& trees, const FeatureMatrix& x, std::int32_t* leaf,
                 const Execution& execution) {
  const Execution limited = limit_threads(execution, work_of(trees, x.n_samples));
  for_each_part(limited, x.n_samples, kPredictedRows, [&](index_t, index_t begin, index_t end) {
    for (index_t row = begin; row < end; ++row)
      for (index_t tree = 0; tree < trees.n_trees; ++tree)
        leaf[row * trees.n_trees + tree] =
            static_cast<std::int32_t>(leaf_of(trees, tree, x, row));
  });
}

}  // namespace fctree::symmetric
