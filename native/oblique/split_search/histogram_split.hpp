// The best cuts of nodes between bins of the features (feature_bins.hpp) under the constant criterion.
#pragma once

#include <vector>

#include "oblique/node_statistics.hpp"
#include "oblique/split_search/feature_bins.hpp"
#include "oblique/split_search/histogram.hpp"

namespace fctree::oblique {

// sums (n_bins, 2 + K): of each bin the number of samples, their weight, and the sums of w y.
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
  void find_in_group(const GrowState& state, const Group& group) const;

  const FeatureBins& bins_;
  BinnedSamples samples_;
  std::vector<double> units_;  // of the number, the weight and the targets
};

}  // namespace fctree::oblique
