// The best cuts of nodes between bins of the features (feature_bins.hpp) under the constant criterion.
#pragma once

#include <vector>

#include "oblique/node_statistics.hpp"
#include "oblique/split_search/feature_bins.hpp"
#include "oblique/split_search/histogram.hpp"

namespace fctree::oblique {

// The best cut between intervals of the scores of a node's samples. sums (n, 2 + K): of each interval
// the number of samples, their weight, and the sums of w y; `mean` (K) is that of y. `between` has the
// threshold between two intervals, all between which are empty.
template <class Between>
Cut best_between_intervals(const GrowState& state, const OpenNode& node, const double* sums,
                           index_t n_intervals, const Vector& mean, const Between& between) {
  const index_t n_outputs = state.data.n_outputs;
  ConstantScan<> scan(n_outputs, node.moments.weight);
  index_t n_left = 0, last = 0;  // the last interval on the left
  for (index_t i = 0; i < n_intervals; ++i, sums += 2 + n_outputs) {
    if (sums[0] == 0.0) continue;
    if (state.leaves_enough(node, n_left) && scan.improves()) scan.take(between(last, i), n_left);
    n_left += static_cast<index_t>(sums[0]);
    scan.move(sums[1], VectorView(sums + 2, n_outputs) - sums[1] * mean);
    last = i;
  }
  return scan.best();
}

// The same between the bins of a feature.
Cut best_between_bins(const GrowState& state, const OpenNode& node, const double* sums,
                      const FeatureBins& bins, index_t feature);

// The same for many nodes with local samples.
class HistogramSplits {
 public:
  // For a tree on these samples, kept by reference. O(n K).
  HistogramSplits(const BinnedFeatures& features, const TrainingData& data);
  // Axis tasks, those of a node next to each other. O(d n K) per level.
  void find(const GrowState& state, const std::vector<CutTask>& tasks) const;

 private:
  struct Group;
  std::vector<std::int64_t> sums_of(const Group& group, const NodeRows& rows) const;
  void cut_group(const GrowState& state, const Group& group,
                 const std::vector<std::int64_t>& sums) const;

  const FeatureBins& bins_;
  BinnedTerms samples_;
  std::vector<double> units_;  // of the number, the weight and the targets
};

}  // namespace fctree::oblique
