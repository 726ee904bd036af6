// The best cuts of nodes between bins of the features (feature_bins.hpp) under the constant criterion.
#pragma once

#include <memory>
#include <vector>

#include "oblique/node_statistics.hpp"
#include "oblique/split_search/feature_bins.hpp"
#include "oblique/split_search/histogram.hpp"

namespace fctree::oblique {

// Of each of n intervals of the scores of a node's samples: their number, their weight, and the sums of
// w y, (n, 2 + K), in these units (2 + K). Or (1 + K), without the weight, of which the number has the unit.
template <class Number>
struct IntervalSums {
  const Number* sums;
  index_t n;
  const std::vector<double>& units;
};

template <int kOutputs, class Number, class Between>
Cut best_between(const GrowState& state, const OpenNode& node, const IntervalSums<Number>& intervals,
                 const Vector& mean, const Between& between) {
  using Outputs = Eigen::Matrix<double, kOutputs, 1>;
  const index_t n_outputs = kOutputs > 0 ? kOutputs : state.data.n_outputs;
  const index_t width = static_cast<index_t>(intervals.units.size()), first = width - n_outputs - 1;  // the weight
  const double* unit = intervals.units.data() + first;
  const Outputs centre = mean, units = VectorView(unit + 1, n_outputs);
  Outputs terms(n_outputs);
  ConstantScan<kOutputs> scan(n_outputs, node.moments.weight);
  index_t n_left = 0, last = 0;  // the last interval on the left
  for (index_t i = 0; i < intervals.n; ++i) {
    const Number* sums = intervals.sums + i * width;
    if (sums[0] == 0) continue;
    if (state.leaves_enough(node, n_left) && scan.improves()) scan.take(between(last, i), n_left);
    n_left += static_cast<index_t>(sums[0]);
    const double weight = static_cast<double>(sums[first]) * unit[0];
    for (index_t k = 0; k < n_outputs; ++k)
      terms[k] = static_cast<double>(sums[first + 1 + k]) * units[k] - weight * centre[k];
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

// The same between the bins of a feature, sums (n_bins, units) in these units.
Cut best_between_bins(const GrowState& state, const OpenNode& node, const std::int64_t* sums,
                      const std::vector<double>& units, const FeatureBins& bins, index_t feature);

// The same for many nodes with local samples, level by level. Where all nodes may be cut along the same features and
// it saves time, sums of a node are kept, so that of its children only the smaller one's are summed: the other has the
// rest, exactly.
class HistogramSplits {
 public:
  // For a tree on these samples, kept by reference. O(n K).
  HistogramSplits(std::shared_ptr<const BinnedFeatures> features, const TrainingData& data,
                  const Execution& execution);
  // Axis tasks of a level, those of a node next to each other. O(d n K).
  void find(const GrowState& state, const std::vector<CutTask>& tasks);

 private:
  using Sums = std::vector<std::int64_t>;  // of some features
  struct Group;
  struct Family;
  struct Kept {
    index_t begin, size;  // of the node's rows
    std::vector<Sums> groups;
  };
  std::vector<Group> groups_of(const GrowState& state, const std::vector<CutTask>& tasks, std::vector<Kept>& kept) const;
  std::vector<Family> families_of(const GrowState& state, const std::vector<Group>& groups);
  Sums sums_of(const Family& family, const NodeRows& rows) const;
  void cut_family(const GrowState& state, const Family& family, Sums sums) const;
  void cut_group(const GrowState& state, const Group& group, index_t number, Sums sums) const;

  std::shared_ptr<const BinnedFeatures> features_;
  BinnedTerms samples_;
  std::vector<double> units_;  // of the count, of the weight unless all are equal, and of each target
  std::vector<Kept> kept_;  // of the level before, from left to right
};

}  // namespace fctree::oblique
