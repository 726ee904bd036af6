#include "oblique/split_search/histogram_split.hpp"

#include <algorithm>
#include <utility>

namespace fctree::oblique {

namespace {

constexpr index_t kFewestRows = 4096;  // of a piece
constexpr index_t kMostPieces = 128;  // of all rows, since the sums of each take memory

index_t feature_of(const CutTask& task) {
  return task.split().index;
}

}  // namespace

Cut best_between_bins(const GrowState& state, const OpenNode& node, const std::int64_t* sums,
                      const std::vector<double>& units, const FeatureBins& bins, index_t feature) {
  const IntervalSums<std::int64_t> intervals = {sums, bins.n_bins(), units.data()};
  return best_between_intervals(
      state, node, intervals, state.target_mean(node),
      [&](index_t left, index_t right) { return bins.threshold_between(feature, left, right); });
}

// Tasks of one node on one span of features: its rows are read once for all of them.
struct HistogramSplits::Group {
  const CutTask* tasks;
  index_t size;
  index_t number;  // of the span
  index_t first_piece = 0, n_pieces = 0;  // of a large node's rows
};

HistogramSplits::HistogramSplits(std::shared_ptr<const BinnedFeatures> features,
                                 const TrainingData& data, const Execution& execution)
    : features_(std::move(features)) {
  const TermScale scale = term_scale(data, execution);
  samples_ = {features_->of_values.data(), features_->bins.n_bins(), data.n_features,
              1 + data.n_outputs, fixed_terms(data, scale, execution)};
  units_ = term_units(scale);
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
  // Of large nodes some rows at a time: sums of integers are the same in any order.
  struct Piece {
    index_t group;
    NodeRows rows;
  };
  std::vector<Piece> pieces;
  const index_t length = std::max(kFewestRows, state.n_rows() / kMostPieces);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const NodeRows rows = state.rows_of(*groups[g].tasks->node);
    const Partition parts = partition_range(rows.size, length, rows.size);
    groups[g].first_piece = static_cast<index_t>(pieces.size());
    groups[g].n_pieces = parts.n_parts > 1 ? parts.n_parts : 0;
    for (index_t p = 0; p < groups[g].n_pieces; ++p)
      pieces.push_back({static_cast<index_t>(g),
                        {rows.rows + parts.begin(p), parts.end(p) - parts.begin(p)}});
  }
  std::vector<std::vector<std::int64_t>> sums(pieces.size());
  parallel_for(state.execution, static_cast<index_t>(pieces.size()), [&](index_t p) {
    sums[p] = sums_of(groups[pieces[p].group], pieces[p].rows);
  });
  parallel_for(state.execution, static_cast<index_t>(groups.size()), [&](index_t g) {
    const Group& group = groups[g];
    if (group.n_pieces == 0)
      return cut_group(state, group, sums_of(group, state.rows_of(*group.tasks->node)));
    std::vector<std::int64_t>& total = sums[group.first_piece];
    for (index_t p = 1; p < group.n_pieces; ++p) {
      std::vector<std::int64_t>& piece = sums[group.first_piece + p];
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += piece[i];
      piece = {};
    }
    cut_group(state, group, total);
    total = {};
  });
}

std::vector<std::int64_t> HistogramSplits::sums_of(const Group& group, const NodeRows& rows) const {
  const FeatureSpan features = span_at(group.number, samples_.n_features);
  std::vector<std::int64_t> sums(features.size * samples_.feature_size(), 0);
  add_to_histograms(samples_, rows, features, sums.data());
  return sums;
}

void HistogramSplits::cut_group(const GrowState& state, const Group& group,
                                const std::vector<std::int64_t>& sums) const {
  const index_t first = span_at(group.number, samples_.n_features).first;
  for (index_t t = 0; t < group.size; ++t) {
    const index_t feature = feature_of(group.tasks[t]);
    group.tasks[t].split().cut =
        best_between_bins(state, *group.tasks->node,
                          sums.data() + (feature - first) * samples_.feature_size(), units_,
                          features_->bins, feature);
  }
}

}  // namespace fctree::oblique
