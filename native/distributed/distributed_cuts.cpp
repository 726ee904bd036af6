// The best cut of each candidate of a level whose samples lie in many places.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/argsort.hpp"
#include "distributed/distributed_statistics.hpp"
#include "distributed/step_arguments.hpp"
#include "oblique/split_search/histogram_split.hpp"
#include "oblique/split_search/ridge_split.hpp"
#include "ridge/dense.hpp"

namespace fctree::distributed {

namespace {

// Cuts that the constant criterion tries along a direction, at most.
constexpr index_t kMostConstantCuts = 255;
// Doubles that the places answer a step with, at most, unless one candidate needs more.
constexpr index_t kAnswerSize = index_t{1} << 25;

// sums: of each interval the number, the weight, and the sums of w (y - mean).
Cut best_of_sums(const GrowState& state, const OpenNode& node, const double* sums,
                 const std::vector<double>& thresholds) {
  const index_t n_outputs = state.data.n_outputs;
  Vector left = Vector::Zero(n_outputs);
  double left_weight = 0.0, n_left = 0.0;
  Cut best;
  for (const double threshold : thresholds) {
    n_left += sums[0];
    left_weight += sums[1];
    left += VectorView(sums + 2, n_outputs);
    sums += 2 + n_outputs;
    const double right_weight = node.moments.weight - left_weight;
    if (!state.leaves_enough(node, static_cast<index_t>(n_left)) || !(right_weight > 0.0))
      continue;
    const double decrease = constant_decrease(left, left_weight, right_weight);
    if (!is_better(decrease, best.decrease)) continue;
    best.found = true;
    best.decrease = decrease;
    best.threshold = threshold;
    best.n_left = static_cast<index_t>(n_left);
  }
  return best;
}

// sums: of each interval the number and the packed products.
Cut best_of_products(const GrowState& state, const CutTask& task, const double* sums,
                     const std::vector<double>& thresholds) {
  const OpenNode& node = *task.node;
  const index_t width = task.search->products.cols();
  ModelCutChoice choice(task.search->models, task.search->products, node.loss);
  RowMatrix left = RowMatrix::Zero(width, width);
  double n_left = 0.0;
  for (const double threshold : thresholds) {
    n_left += sums[0];
    left += RowMatrixView(sums + 1, width, width);
    sums += 1 + width * width;
    if (!state.leaves_enough(node, static_cast<index_t>(n_left))) continue;
    choice.consider(left, static_cast<index_t>(n_left), threshold);
  }
  return choice.best();
}

}  // namespace

std::vector<double> DistributedStatistics::thresholds_of(const GrowState& state, const CutTask& task) const {
  const OpenNode& node = *task.node;
  const NodeRows rows = sample_of(node);
  if (rows.size < 2) return {};
  const SplitInfo& candidate = task.split();
  const Vector direction = direction_of(state, node, candidate);
  std::vector<double> scores(rows.size);
  const index_t axis = candidate.kind == SplitKind::axis ? candidate.index : -1;
  score_rows(sample_, rows, direction.data(), axis, scores.data());
  CutRules rules = cut_rules(state, node, direction);
  // Where the sample is of all rows, its own numbers are those of the node.
  if (rows.size < node.size) rules.min_samples_leaf = 1;
  const bool by_models = task.search != nullptr;
  const index_t most = by_models ? state.params.max_thresholds : kMostConstantCuts;
  std::vector<std::uint64_t> items(rows.size), spare(rows.size);
  const std::uint64_t* order = argsort(scores.data(), rows.size, {items.data(), spare.data()});
  std::vector<double> thresholds;
  for (const index_t size :
       quantile_cuts(sample_, rows, scores.data(), order, {rules, most, node.loss}))
    thresholds.push_back(cut_between(scores.data(), order, size));
  return thresholds;
}

void DistributedStatistics::find_cuts(const GrowState& state, const std::vector<CutTask>& tasks) {
  const CutsByKind kinds = cuts_by_kind(tasks);
  find_cuts_at_quantiles(state, kinds.others);
  find_cuts_between_bins(state, kinds.axes_by_constants);
}

void DistributedStatistics::find_cuts_between_bins(const GrowState& state,
                                        const std::vector<CutTask>& tasks) {
  if (tasks.empty()) return;
  if (bins_ == nullptr) throw std::logic_error("splits along axes need bins of the features");
  std::vector<OpenNode*> nodes;
  std::vector<index_t> node_of(tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (nodes.empty() || nodes.back() != tasks[t].node) nodes.push_back(tasks[t].node);
    node_of[t] = static_cast<index_t>(nodes.size()) - 1;
  }
  const index_t feature_size = bins_->n_bins() * (2 + sample_.n_outputs);
  const index_t node_size = sample_.n_features * feature_size;
  const index_t together = std::max<index_t>(1, kAnswerSize / node_size);
  const index_t n_nodes = static_cast<index_t>(nodes.size());
  for (index_t first = 0; first < n_nodes; first += together) {
    const index_t last = std::min(n_nodes, first + together);
    const std::vector<double> sums =
        ask("bin_sums", {numbers_of({nodes.begin() + first, nodes.begin() + last})});
    parallel_for(state.execution, static_cast<index_t>(tasks.size()), [&](index_t t) {
      if (node_of[t] < first || node_of[t] >= last) return;
      Cut& cut = tasks[t].split().cut;
      const index_t feature = tasks[t].split().index;
      const double* own = sums.data() + (node_of[t] - first) * node_size + feature * feature_size;
      cut = best_between_bins(state, *tasks[t].node, own, *bins_, feature);
    });
  }
}

void DistributedStatistics::find_cuts_at_quantiles(const GrowState& state,
                                        const std::vector<CutTask>& tasks) {
  const index_t n_tasks = static_cast<index_t>(tasks.size());
  if (n_tasks == 0) return;
  const bool by_models = tasks[0].search != nullptr;
  const index_t width = packed_width(sample_.n_features, sample_.n_outputs);
  const index_t size =
      by_models ? (state.params.max_thresholds + 1) * (1 + width * width)
                : (kMostConstantCuts + 1) * (2 + sample_.n_outputs);
  const index_t together = std::max<index_t>(1, kAnswerSize / size);
  for (index_t first = 0; first < n_tasks; first += together)
    find_some_cuts(state, tasks.data() + first, std::min(together, n_tasks - first));
}

void DistributedStatistics::find_some_cuts(const GrowState& state, const CutTask* tasks, index_t n_tasks) {
  const bool by_models = tasks[0].search != nullptr;
  std::vector<std::vector<double>> thresholds(n_tasks);
  parallel_for(state.execution, n_tasks,
               [&](index_t t) { thresholds[t] = thresholds_of(state, tasks[t]); });
  CandidateArguments candidates(sample_.n_features);
  std::vector<Vector> about;
  std::vector<index_t> wanted;
  for (index_t t = 0; t < n_tasks; ++t) {
    if (thresholds[t].empty()) continue;
    const OpenNode& node = *tasks[t].node;
    const SplitInfo& candidate = tasks[t].split();
    wanted.push_back(t);
    candidates.add(node, candidate, direction_of(state, node, candidate), thresholds[t]);
    about.push_back(by_models ? tasks[t].search->models.origin : state.target_mean(node));
  }
  if (wanted.empty()) return;
  std::vector<StepArgument> arguments = candidates.take();
  arguments.push_back(rows_argument(by_models ? "shift" : "mean", about));
  const std::vector<double> sums = ask(by_models ? "cut_products" : "cut_sums", arguments);
  const index_t size = static_cast<index_t>(sums.size() / wanted.size());
  parallel_for(state.execution, static_cast<index_t>(wanted.size()), [&](index_t i) {
    const CutTask& task = tasks[wanted[i]];
    const double* own = sums.data() + i * size;
    task.split().cut =
        by_models ? best_of_products(state, task, own, thresholds[wanted[i]])
                  : best_of_sums(state, *task.node, own, thresholds[wanted[i]]);
  });
}

}  // namespace fctree::distributed
