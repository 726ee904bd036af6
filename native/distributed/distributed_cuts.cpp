// The best cut of each candidate of a level whose samples lie in many places.
#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "distributed/distributed_statistics.hpp"
#include "oblique/score_rows.hpp"
#include "oblique/split_search/histogram_split.hpp"
#include "oblique/split_search/ridge_split.hpp"

namespace fctree::distributed {

namespace {

// Cuts that the constant criterion tries along a direction, at most.
constexpr index_t kMostConstantCuts = 255;
// Numbers that places exchange at once, at most, unless one candidate needs more.
constexpr index_t kMostAtOnce = index_t{1} << 25;

// sums: of each interval the number and the packed products.
Cut best_of_products(const GrowState& state, const CutTask& task, const double* sums,
                     const std::vector<double>& thresholds) {
  const OpenNode& node = *task.node;
  const RowMatrix& whole = task.search->products;
  ModelCutChoice choice(task.search->models, whole, node.loss);
  RowMatrix left = RowMatrix::Zero(whole.rows(), whole.cols());
  double n_left = 0.0;
  for (const double threshold : thresholds) {
    n_left += sums[0];
    left += RowMatrixView(sums + 1, whole.rows(), whole.cols());
    sums += 1 + whole.size();
    if (!state.leaves_enough(node, static_cast<index_t>(n_left))) continue;
    choice.consider(left, static_cast<index_t>(n_left), threshold);
  }
  return choice.best();
}

// sums: of each interval the number, the weight, and the sums of w (y - mean).
Cut best_of_sums(const GrowState& state, const OpenNode& node, const double* sums,
                 const std::vector<double>& thresholds) {
  const std::vector<double> units(2 + state.data.n_outputs, 1.0);
  const IntervalSums<double> intervals = {sums, static_cast<index_t>(thresholds.size()) + 1, units};
  return best_between_intervals(state, node, intervals, Vector::Zero(state.data.n_outputs),
                                [&](index_t left, index_t) { return thresholds[left]; });
}

// A candidate with the places that it may be cut at, and the point that sums are taken about.
struct Candidate {
  const CutTask* task;
  std::vector<double> thresholds;  // ascending, infinite where there are no more
  Vector direction;
  Vector about;

  const OpenNode& node() const { return *task->node; }
  // The interval between thresholds that the score of each of some rows is in.
  std::vector<index_t> intervals(const TrainingData& data, const NodeRows& rows) const {
    std::vector<double> scores(rows.size);
    score_rows(data, rows, task->split(), direction, scores.data());
    std::vector<index_t> found(rows.size);
    for (index_t i = 0; i < rows.size; ++i)
      found[i] = interval_of(thresholds.data(), static_cast<index_t>(thresholds.size()), scores[i]);
    return found;
  }
};

// The number and the packed products of the rows in each interval.
void add_cut_products(const TrainingData& data, const NodeRows& rows, const Candidate& candidate,
                      double* out) {
  const index_t n_intervals = static_cast<index_t>(candidate.thresholds.size()) + 1;
  const index_t size = 1 + packed_size(data.n_features, data.n_outputs);
  const std::vector<index_t> interval = candidate.intervals(data, rows);
  std::vector<index_t> offsets(n_intervals + 1, 0);
  for (const index_t t : interval) ++offsets[t + 1];
  for (index_t t = 0; t < n_intervals; ++t) offsets[t + 1] += offsets[t];
  std::vector<index_t> next(offsets.begin(), offsets.end() - 1);
  std::vector<std::int32_t> sorted(rows.size);
  for (index_t i = 0; i < rows.size; ++i) sorted[next[interval[i]]++] = rows.rows[i];
  for (index_t t = 0; t < n_intervals; ++t, out += size) {
    const NodeRows own = {sorted.data() + offsets[t], offsets[t + 1] - offsets[t]};
    if (own.size == 0) continue;
    out[0] += static_cast<double>(own.size);
    add_products(data, own, data.weight, candidate.about.data(), out + 1);
  }
}

// The number, the weight and the sums of w (y - mean) of the rows in each interval.
void add_cut_sums(const TrainingData& data, const NodeRows& rows, const Candidate& candidate,
                  double* out) {
  const std::vector<index_t> interval = candidate.intervals(data, rows);
  for (index_t i = 0; i < rows.size; ++i) {
    const index_t row = rows.rows[i];
    double* sums = out + (2 + data.n_outputs) * interval[i];
    sums[0] += 1.0;
    sums[1] += data.weight[row];
    for (index_t k = 0; k < data.n_outputs; ++k)
      sums[2 + k] += data.weight[row] * (data.y[row * data.n_outputs + k] - candidate.about[k]);
  }
}

}  // namespace

std::vector<double> DistributedStatistics::thresholds_of(const GrowState& state, const CutTask& task) const {
  const OpenNode& node = *task.node;
  const NodeRows rows = sample_of(node);
  if (rows.size < 2) return {};
  const SplitInfo& candidate = task.split();
  std::vector<double> scores(rows.size);
  score_rows(sample_, rows, candidate, direction_of(state, node, candidate), scores.data());
  CutRules rules = cut_rules(state, node, candidate);
  // Where the sample is of all rows, its own numbers are those of the node.
  if (rows.size < node.size) rules.min_samples_leaf = 1;
  const bool by_models = task.search != nullptr;
  const index_t most = by_models ? state.params.max_thresholds : kMostConstantCuts;
  return cuts_to_try(sample_, rows, scores.data(),
                     {rules, most, candidate.cut.lower, candidate.cut.upper}).thresholds;
}

void DistributedStatistics::find_cuts(const GrowState& state, const std::vector<CutTask>& tasks) {
  const CutsByKind kinds = cuts_by_kind(tasks);
  find_cuts_at_quantiles(state, kinds.others);
  find_cuts_between_bins(state, kinds.axes_by_constants);
}

// The sums of the bins of the features of some nodes, (n, d, n_bins, 2 + K).
std::vector<std::int64_t> DistributedStatistics::histograms(
    const GrowState& state, const std::vector<OpenNode*>& nodes) {
  const index_t d = data_.n_features, n_spans = count_parts(d, kFeaturesTogether);
  const index_t n_nodes = static_cast<index_t>(nodes.size());
  std::vector<std::int64_t> sums(n_nodes * d * binned_.feature_size(), 0);
  parallel_for(state.execution, n_nodes * n_spans, [&](index_t task) {
    const index_t i = task / n_spans;
    const index_t first = task % n_spans * kFeaturesTogether;
    std::vector<index_t> features(std::min(kFeaturesTogether, d - first));
    std::iota(features.begin(), features.end(), first);
    std::int64_t* out = sums.data() + (i * d + first) * binned_.feature_size();
    for (index_t b = 0; b < rows_.blocks().n_here; ++b)
      add_to_histograms(binned_, rows_.rows(nodes[i]->begin, rows_.blocks().first + b), features, out);
  });
  add_up(state.execution.all, sums.data(), static_cast<index_t>(sums.size()));
  return sums;
}

void DistributedStatistics::find_cuts_between_bins(const GrowState& state, const std::vector<CutTask>& tasks) {
  if (tasks.empty()) return;
  if (bins_ == nullptr) throw std::logic_error("splits along axes need bins of the features");
  std::vector<OpenNode*> nodes;
  std::vector<index_t> node_of(tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (nodes.empty() || nodes.back() != tasks[t].node) nodes.push_back(tasks[t].node);
    node_of[t] = static_cast<index_t>(nodes.size()) - 1;
  }
  const index_t feature_size = bins_->bins.n_bins() * (2 + sample_.n_outputs);
  const index_t node_size = sample_.n_features * feature_size;
  const index_t together = std::max<index_t>(1, kMostAtOnce / node_size);
  const index_t n_nodes = static_cast<index_t>(nodes.size());
  for (index_t first = 0; first < n_nodes; first += together) {
    const index_t last = std::min(n_nodes, first + together);
    const std::vector<std::int64_t> sums =
        histograms(state, {nodes.begin() + first, nodes.begin() + last});
    parallel_for(state.execution, static_cast<index_t>(tasks.size()), [&](index_t t) {
      if (node_of[t] < first || node_of[t] >= last) return;
      Cut& cut = tasks[t].split().cut;
      const index_t feature = tasks[t].split().index;
      const std::int64_t* own =
          sums.data() + (node_of[t] - first) * node_size + feature * feature_size;
      cut = best_between_bins(state, *tasks[t].node, own, units_, bins_->bins, feature);
    });
  }
}

void DistributedStatistics::find_cuts_at_quantiles(const GrowState& state, const std::vector<CutTask>& tasks) {
  const index_t n_tasks = static_cast<index_t>(tasks.size());
  if (n_tasks == 0) return;
  const bool by_models = tasks[0].search != nullptr;
  const index_t size =
      by_models ? (state.params.max_thresholds + 1) * (1 + packed_size(sample_.n_features, sample_.n_outputs))
                : (kMostConstantCuts + 1) * (2 + sample_.n_outputs);
  const index_t together = std::max<index_t>(1, kMostAtOnce / size);
  for (index_t first = 0; first < n_tasks; first += together)
    find_some_cuts(state, tasks.data() + first, std::min(together, n_tasks - first));
}

void DistributedStatistics::find_some_cuts(const GrowState& state, const CutTask* tasks, index_t n_tasks) {
  const bool by_models = tasks[0].search != nullptr;
  std::vector<std::vector<double>> thresholds(n_tasks);
  parallel_for(state.execution, n_tasks,
               [&](index_t t) { thresholds[t] = thresholds_of(state, tasks[t]); });
  std::vector<Candidate> candidates;
  std::size_t most = 0;
  for (index_t t = 0; t < n_tasks; ++t) {
    if (thresholds[t].empty()) continue;
    const OpenNode& node = *tasks[t].node;
    candidates.push_back({tasks + t, thresholds[t], direction_of(state, node, tasks[t].split()),
                          by_models ? tasks[t].search->models.origin : state.target_mean(node)});
    most = std::max(most, thresholds[t].size());
  }
  if (candidates.empty()) return;
  for (Candidate& candidate : candidates)
    candidate.thresholds.resize(most, std::numeric_limits<double>::infinity());
  const index_t of_interval =
      by_models ? 1 + packed_size(data_.n_features, data_.n_outputs) : 2 + data_.n_outputs;
  const index_t size = static_cast<index_t>(most + 1) * of_interval;
  const index_t n_candidates = static_cast<index_t>(candidates.size());
  const std::vector<double> sums = sum_blocks(
      rows_.blocks(), {n_candidates, size},
      [&](index_t i, index_t block, double* out) {
        const NodeRows own = rows_.rows(candidates[i].node().begin, block);
        (by_models ? add_cut_products : add_cut_sums)(data_, own, candidates[i], out);
      },
      state.execution);
  parallel_for(state.execution, n_candidates, [&](index_t i) {
    const CutTask& task = *candidates[i].task;
    const std::vector<double>& own = thresholds[&task - tasks];
    task.split().cut = by_models ? best_of_products(state, task, sums.data() + i * size, own)
                                 : best_of_sums(state, *task.node, sums.data() + i * size, own);
  });
}

}  // namespace fctree::distributed
