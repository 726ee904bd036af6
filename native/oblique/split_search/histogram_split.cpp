#include "oblique/split_search/histogram_split.hpp"

namespace fctree::oblique {

namespace {

index_t feature_of(const CutTask& task) {
  return task.split().index;
}

}  // namespace

Cut best_between_bins(const GrowState& state, const OpenNode& node, const double* sums,
                      const FeatureBins& bins, index_t feature) {
  return best_between_intervals(
      state, node, sums, bins.n_bins(), state.target_mean(node),
      [&](index_t left, index_t right) { return bins.threshold_between(feature, left, right); });
}

// Tasks of one node on one span of features: its rows are read once for all of them.
struct HistogramSplits::Group {
  const CutTask* tasks;
  index_t size;
  index_t number;  // of the span
};

HistogramSplits::HistogramSplits(const BinnedFeatures& features, const TrainingData& data)
    : bins_(features.bins) {
  const TermScale scale = term_scale(data);
  samples_ = {features.of_values.data(), bins_.n_bins(), data.n_features, 1 + data.n_outputs,
              fixed_terms(data, scale)};
  units_ = term_units(scale);
  units_.insert(units_.begin(), 1.0);
}

void HistogramSplits::find(const GrowState& state, const std::vector<CutTask>& tasks) const {
  std::vector<Group> groups;
  for (const CutTask& task : tasks) {
    const index_t number = feature_of(task) / kFeaturesOfSpan;
    if (groups.empty() || groups.back().tasks->node != task.node ||
        groups.back().number != number)
      groups.push_back({&task, 0, number});
    ++groups.back().size;
  }
  parallel_for(state.execution, static_cast<index_t>(groups.size()),
               [&](index_t g) { find_in_group(state, groups[g]); });
}

void HistogramSplits::find_in_group(const GrowState& state, const Group& group) const {
  OpenNode& node = *group.tasks->node;
  const FeatureSpan features = span_at(group.number, samples_.n_features);
  const index_t size = samples_.feature_size();
  std::vector<std::int64_t> sums(features.size * size, 0);
  add_to_histograms(samples_, state.rows_of(node), features, sums.data());
  std::vector<double> of_feature(size);
  for (index_t t = 0; t < group.size; ++t) {
    const index_t feature = feature_of(group.tasks[t]);
    const std::int64_t* own = sums.data() + (feature - features.first) * size;
    for (index_t i = 0; i < size; ++i)
      of_feature[i] = static_cast<double>(own[i]) * units_[i % units_.size()];
    group.tasks[t].split().cut =
        best_between_bins(state, node, of_feature.data(), bins_, feature);
  }
}

}  // namespace fctree::oblique
