#include "oblique/split_search/histogram_split.hpp"

#include <algorithm>
#include <utility>

namespace fctree::oblique {

namespace {

constexpr index_t kFewestRows = 4096;  // of a piece
constexpr index_t kMostPieces = 128;  // of all rows, since the sums of each take memory
constexpr index_t kPiecesOfThread = 4;
constexpr index_t kFewestKept = 1024;  // rows of a node: sums of fewer are as fast as a difference
constexpr index_t kMostKept = index_t{1} << 20;  // integers, 8 MB

index_t feature_of(const CutTask& task) {
  return task.split().index;
}

}  // namespace

Cut best_between_bins(const GrowState& state, const OpenNode& node, const std::int64_t* sums,
                      const std::vector<double>& units, const FeatureBins& bins, index_t feature) {
  const IntervalSums<std::int64_t> intervals = {sums, bins.n_bins(), units};
  return best_between_intervals(
      state, node, intervals, state.target_mean(node),
      [&](index_t left, index_t right) { return bins.threshold_between(feature, left, right); });
}

// Tasks of one node: its rows are read once for all of them.
struct HistogramSplits::Group {
  const CutTask* tasks = nullptr;
  index_t size = 0;
  Kept* kept = nullptr;  // what keeps its sums
};

// A node, or two siblings, on some features.
struct HistogramSplits::Family {
  NodeRows rows;  // that are summed
  Group summed;  // the node that has them, unless it is not searched
  Group other;  // that has the rest of the parent's sums
  Kept* parent = nullptr;
  index_t number = 0;  // of these features
  index_t first_piece = 0, n_pieces = 0;  // of many rows
};

HistogramSplits::HistogramSplits(std::shared_ptr<const BinnedFeatures> features,
                                 const TrainingData& data, const Execution& execution)
    : features_(std::move(features)) {
  const TermScale scale = term_scale(data, execution);
  units_ = term_units(scale);
  samples_ = {features_->of_values.data(), features_->bins.n_bins(), data.n_features,
              static_cast<index_t>(units_.size()) - 1, fixed_terms(data, scale, execution)};
}

// Those of the nodes, with a place for the sums of each that saves time if it is kept.
std::vector<HistogramSplits::Group> HistogramSplits::groups_of(const GrowState& state, const std::vector<CutTask>& tasks,
                                                               std::vector<Kept>& kept) const {
  std::vector<Group> groups;
  for (const CutTask& task : tasks) {
    if (groups.empty() || groups.back().tasks->node != task.node) groups.push_back({&task});
    ++groups.back().size;
  }
  kept.reserve(groups.size());
  if (state.draws_features() && !state.params.node_features.once) return groups;
  for (Group& group : groups) {
    const OpenNode& node = *group.tasks->node;
    const index_t n_kept = static_cast<index_t>(kept.size()) + 1;
    if (node.depth + 1 >= state.params.max_depth || node.size < kFewestKept ||
        n_kept * group.size * samples_.feature_size() > kMostKept)
      continue;
    kept.push_back({node.begin, node.size, std::vector<Sums>(count_parts(group.size, kFeaturesTogether))});
    group.kept = &kept.back();
  }
  return groups;
}

std::vector<HistogramSplits::Family> HistogramSplits::families_of(const GrowState& state,
                                                                  const std::vector<Group>& groups) {
  std::vector<Family> families;
  auto parent = kept_.begin();
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    const OpenNode& node = *group->tasks->node;
    const index_t end = node.begin + node.size;
    Family family = {state.rows_of(node), *group, {}};
    while (parent != kept_.end() && parent->begin + parent->size < end) ++parent;
    if (parent != kept_.end() && parent->begin <= node.begin && node.size < parent->size) {
      const index_t begin = node.begin == parent->begin ? end : parent->begin;
      const NodeRows rest = {state.rows.data() + begin, parent->size - node.size};
      const bool is_searched = group + 1 != groups.end() && group[1].tasks->node->begin == begin;
      if (is_searched) family.other = *++group;
      if (rest.size < node.size) {
        family.rows = rest;
        std::swap(family.summed, family.other);
      }
      if (family.other.size > 0) family.parent = &*parent;
    }
    const index_t n_tasks = std::max(family.summed.size, family.other.size);
    for (; family.number < count_parts(n_tasks, kFeaturesTogether); ++family.number) families.push_back(family);
  }
  return families;
}

void HistogramSplits::find(const GrowState& state, const std::vector<CutTask>& tasks) {
  std::vector<Kept> kept;
  std::vector<Family> families = families_of(state, groups_of(state, tasks, kept));
  // Of many rows some at a time: sums of integers are the same in any order.
  struct Piece {
    const Family* family;
    NodeRows rows;
  };
  std::vector<Piece> pieces;
  const index_t n_most = std::min(kMostPieces, kPiecesOfThread * state.execution.n_threads);
  const index_t length = std::max(kFewestRows, state.n_rows() / n_most);
  for (Family& family : families) {
    const NodeRows rows = family.rows;
    const Partition parts = partition_range(rows.size, length, rows.size);
    if (parts.n_parts == 1 || state.execution.n_threads == 1) continue;
    family.first_piece = static_cast<index_t>(pieces.size());
    family.n_pieces = parts.n_parts;
    for (index_t p = 0; p < parts.n_parts; ++p)
      pieces.push_back({&family, {rows.rows + parts.begin(p), parts.end(p) - parts.begin(p)}});
  }
  std::vector<Sums> sums(pieces.size());
  parallel_for(state.execution, static_cast<index_t>(pieces.size()),
               [&](index_t p) { sums[p] = sums_of(*pieces[p].family, pieces[p].rows); });
  parallel_for(state.execution, static_cast<index_t>(families.size()), [&](index_t f) {
    const Family& family = families[f];
    if (family.n_pieces == 0) return cut_family(state, family, sums_of(family, family.rows));
    Sums total = std::move(sums[family.first_piece]);
    for (index_t p = 1; p < family.n_pieces; ++p) {
      const Sums piece = std::move(sums[family.first_piece + p]);
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += piece[i];
    }
    cut_family(state, family, std::move(total));
  });
  kept_ = std::move(kept);
}

HistogramSplits::Sums HistogramSplits::sums_of(const Family& family, const NodeRows& rows) const {
  const Group& group = family.other.size > 0 ? family.other : family.summed;
  const index_t first = family.number * kFeaturesTogether;
  std::vector<index_t> features;
  for (index_t t = first; t < std::min(first + kFeaturesTogether, group.size); ++t)
    features.push_back(feature_of(group.tasks[t]));
  Sums sums(features.size() * samples_.feature_size(), 0);
  add_to_histograms(samples_, rows, features, sums.data());
  return sums;
}

void HistogramSplits::cut_family(const GrowState& state, const Family& family, Sums sums) const {
  if (family.parent != nullptr) {
    Sums rest = std::move(family.parent->groups[family.number]);
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= sums[i];
    cut_group(state, family.other, family.number, std::move(rest));
  }
  cut_group(state, family.summed, family.number, std::move(sums));
}

void HistogramSplits::cut_group(const GrowState& state, const Group& group, index_t number, Sums sums) const {
  const index_t first = number * kFeaturesTogether;
  for (index_t t = first; t < std::min(first + kFeaturesTogether, group.size); ++t) {
    const std::int64_t* own = sums.data() + (t - first) * samples_.feature_size();
    group.tasks[t].split().cut = best_between_bins(state, *group.tasks->node, own, units_, features_->bins,
                                                   feature_of(group.tasks[t]));
  }
  if (group.kept != nullptr) group.kept->groups[number] = std::move(sums);
}

}  // namespace fctree::oblique
