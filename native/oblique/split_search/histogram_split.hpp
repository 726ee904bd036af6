// The best cuts of nodes between bins of the features (feature_bins.hpp) under the constant criterion.
#pragma once

#include <memory>
#include <vector>

#include "oblique/node_statistics.hpp"
#include "oblique/split_search/feature_bins.hpp"
#include "oblique/split_search/histogram.hpp"

namespace fctree::oblique {

// Of each of n intervals of the scores of a node's samples: their number, their weight, and the sums of
// w y, (n, 2 + K), in these units (2 + K).
template <class Number>
struct IntervalSums {
  const Number* sums;
  index_t n;
  const double* units;
};

template <int kOutputs, class Number, class Between>
Cut best_between(const GrowState& state, const OpenNode& node, const IntervalSums<Number>& intervals,
                 const Vector& mean, const Between& between) {
  using Outputs = Eigen::Matrix<double, kOutputs, 1>;
  const index_t n_outputs = kOutputs > 0 ? kOutputs : state.data.n_outputs;
  const Outputs centre = mean, units = VectorView(intervals.units + 2, n_outputs);
  Outputs terms(n_outputs);
  ConstantScan<kOutputs> scan(n_outputs, node.moments.weight);
  index_t n_left = 0, last = 0;  // the last interval on the left
  for (index_t i = 0; i < intervals.n; ++i) {
    const Number* sums = intervals.sums + i * (2 + n_outputs);
    if (sums[0] == 0) continue;
    if (state.leaves_enough(node, n_left) && scan.improves()) scan.take(between(last, i), n_left);
    n_left += static_cast<index_t>(sums[0]);
    const double weight = static_cast<double>(sums[1]) * intervals.units[1];
    for (index_t k = 0; k < n_outputs; ++k)
      terms[k] = static_cast<double>(sums[2 + k]) * units[k] - weight * centre[k];
    scan.move(weight, terms);
    last = i;
  }
  return scan.best();
}

// The best cut between intervals; `mean` (K) is that of y. `between` has the threshold between two
// intervals, all between which are empty.
template <class Number, class Between>
Cut best_between_intervals(const GrowState& state, const OpenNode& node,
                           const IntervalSums<Number>& intervals, const Vector& mean,
                           const Between& between) {
  return state.data.n_outputs == 1
             ? best_between<1>(state, node, intervals, mean, between)
             : best_between<Eigen::Dynamic>(state, node, intervals, mean, between);
}

// The same between the bins of a feature, sums (n_bins, 2 + K) in these units.
Cut best_between_bins(const GrowState& state, const OpenNode& node, const std::int64_t* sums,
                      const std::vector<double>& units, const FeatureBins& bins, index_t feature);

// The same for many nodes with local samples.
class HistogramSplits {
 public:
  // For a tree on these samples, kept by reference. O(n K).
  HistogramSplits(std::shared_ptr<const BinnedFeatures> features, const TrainingData& data,
                  const Execution& execution);
  // Axis tasks, those of a node next to each other. O(d n K) per level.
  void find(const GrowState& state, const std::vector<CutTask>& tasks) const;

 private:
  struct Group;
  std::vector<std::int64_t> sums_of(const Group& group, const NodeRows& rows) const;
  void cut_group(const GrowState& state, const Group& group,
                 const std::vector<std::int64_t>& sums) const;

  std::shared_ptr<const BinnedFeatures> features_;
  BinnedTerms samples_;
  std::vector<double> units_;  // of the number, the weight and the targets
};

}  // namespace fctree::oblique
