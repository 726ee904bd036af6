#include "oblique/local_statistics.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/buffer.hpp"
#include "core/numbers_where.hpp"
#include "oblique/score_rows.hpp"
#include "oblique/split_search/screening.hpp"
#include "oblique/split_search/sparse_direction.hpp"
#include "ridge/dense.hpp"
#include "ridge/penalty_choice.hpp"
#include "ridge/row_blocks.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kScoreChunkRows = 1024;
constexpr index_t kAcceptChunkRows = 512;
constexpr index_t kFewestShared = 4096;  // from here on all threads work on one node
constexpr index_t kPartedRows = 1024;

// An order and a tree's share of it take three times the memory of the values.
constexpr index_t kMostSortedValues = 10'000'000;

// Means and diagonal of a node whose model needs no moments.
Moments sum_means(const GrowState& state, const OpenNode& node, const Execution& execution) {
  const NodeRows rows = state.rows_of(node);
  const bool cuts_scores = state.is_large_enough(node) && state.has_models();
  if (node.depth == 0 || state.needs_fit(node) || cuts_scores)
    return sum_diagonal(state.data, rows, state.origin, execution);
  TrainingData targets = state.data;  // enough for a leaf that predicts a constant
  targets.n_features = 0;
  targets.features = nullptr;
  return sum_diagonal(targets, rows, state.origin.tail(targets.n_outputs), execution);
}

}  // namespace

bool takes_bins(index_t n_samples) { return n_samples > kMostSortedRows; }

FeatureIndex index_features(const TrainingData& features, const FeatureMap& map,
                            const Execution& execution) {
  FeatureIndex index;
  index.columns = map.columns;
  const index_t n_samples = features.n_samples;
  if (takes_bins(n_samples))
    index.bins =
        std::make_shared<BinnedFeatures>(bin_features(features, offset_of(map), execution));
  else if (n_samples * map.width() <= kMostSortedValues)
    index.order.sort(features.x, n_samples, map.width(), execution);
  return index;
}

void LocalStatistics::open(GrowState& state, OpenNode& root) {
  const TrainingData& data = state.data;
  state.rows = numbers_where<std::int32_t>(state.execution, data.n_samples, [&](index_t i) {
    return data.weight == nullptr || data.weight[i] > 0.0;
  });
  if (state.rows.empty()) throw std::invalid_argument("sample_weight is zero for every sample");
  order_.clear();
  if (features_ != nullptr && sorts_axes(state.params)) {
    if (has_bins())
      bin_cuts_.emplace(bins_of_columns(), data, state.execution);
    else
      order_.take(features_->order, places_of(columns_, features_->columns), data.weight, state.execution);
  }
  goes_left_.resize(data.n_samples);
  root.size = state.n_rows();
  state.origin = heaviest_sample(data, state.rows_of(root), state.execution);
}

// Those of the index where the tree sees all of its columns.
std::shared_ptr<const BinnedFeatures> LocalStatistics::bins_of_columns() const {
  const index_t n_columns = features_->bins->bins.n_features();
  if (static_cast<index_t>(columns_.size()) == n_columns) return features_->bins;
  return std::make_shared<BinnedFeatures>(features_->bins->of(places_of(columns_, features_->columns)));
}

std::vector<Moments> LocalStatistics::full_moments(const GrowState& state,
                                             const std::vector<OpenNode*>& nodes) {
  std::vector<NodeRows> rows;
  for (const OpenNode* node : nodes) rows.push_back(state.rows_of(*node));
  return sum_moments(state.data, rows, state.origin, state.execution);
}

std::vector<Moments> LocalStatistics::simple_moments(const GrowState& state,
                                               const std::vector<OpenNode*>& nodes) {
  std::vector<Moments> moments(nodes.size());
  std::vector<index_t> small;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]->size < kFewestShared)
      small.push_back(static_cast<index_t>(i));
    else
      moments[i] = sum_means(state, *nodes[i], state.execution);
  }
  parallel_for(state.execution, static_cast<index_t>(small.size()), [&](index_t s) {
    moments[small[s]] = sum_means(state, *nodes[small[s]], Execution());
  });
  return moments;
}

double LocalStatistics::find_alpha(const GrowState& state, const OpenNode& root) {
  return choose_alpha(state.data, state.rows_of(root), root.moments, state.origin,
                      state.params.fit_intercept, state.execution);
}

SampleSums LocalStatistics::sum_samples(const GrowState& state, const OpenNode& root) {
  return ridge::sum_samples(state.data, state.rows_of(root));
}

RidgeFit LocalStatistics::fit_dual(const GrowState& state, const OpenNode& node) {
  return fit_ridge_dual(state.data, state.rows_of(node), node.moments, node.ancestors,
                        state.origin, state.ridge_options());
}

Matrix LocalStatistics::sparse_dual(const GrowState& state, const OpenNode& node) {
  return sparse_ridge_dual(state, node);
}

// Scores of all nodes along their ridge directions: the only step in which a large node is divided
// by rows to run in parallel.
void LocalStatistics::score_models(GrowState& state, const std::vector<OpenNode*>& nodes) {
  struct Task {
    const OpenNode* node;
    index_t begin;
    index_t end;
  };
  state.scores.reserve(state.n_rows() * state.data.n_outputs);
  std::vector<Task> tasks;
  for (const OpenNode* node : nodes) {
    const Partition parts = partition_range(node->size, kScoreChunkRows, node->size);
    for (index_t p = 0; p < parts.n_parts; ++p)
      tasks.push_back({node, parts.begin(p), parts.end(p)});
  }
  parallel_for(state.execution, static_cast<index_t>(tasks.size()), [&](index_t t) {
    const Task& task = tasks[t];
    const index_t begin = task.node->begin + task.begin;
    const NodeRows rows = {state.rows.data() + begin, task.end - task.begin};
    for_each_selection(state.data, rows, nullptr, [&](const RowSelection& some, index_t first) {
      dense_kernels().project(some, task.node->fit.coef.data(), state.data.n_outputs,
                              state.scores.data() + begin + first, state.n_rows());
    });
  });
}

std::vector<std::vector<Matrix>> LocalStatistics::residual_scatter(
    const GrowState& state, const std::vector<OpenNode*>& nodes) {
  const TrainingData& data = state.data;
  const index_t d = data.n_features;
  std::vector<NodeRows> rows;
  std::vector<Vector> means;
  for (const OpenNode* node : nodes) {
    rows.push_back(state.rows_of(*node));
    means.push_back(node->moments.mean + state.origin);
  }
  std::vector<std::vector<Matrix>> scatter(nodes.size());
  Buffer<double> residuals(data.n_samples);
  for (index_t k = 0; k < data.n_outputs; ++k) {
    parallel_for(state.execution, static_cast<index_t>(nodes.size()), [&](index_t i) {
      const OpenNode& node = *nodes[i];
      const double* scores = state.scores.data() + k * state.n_rows() + node.begin;
      for (index_t at = 0; at < node.size; ++at) {
        const index_t row = rows[i].rows[at];
        const double weight = data.weight_of(row);
        residuals[row] =
            weight * (data.y[row * data.n_outputs + k] - node.fit.intercept[k] - scores[at]);
      }
    });
    const std::vector<RowMatrix> products =
        sum_products(data, rows, means, residuals.data(), state.execution);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      scatter[i].push_back(products[i].topLeftCorner(d, d));
  }
  return scatter;
}

std::vector<Vector> LocalStatistics::promises(const GrowState& state,
                                        const std::vector<OpenNode*>& nodes) {
  return promises_of(state, nodes);
}

// Left rows first, each side in ascending order: parts of the rows are divided, then put in their places.
void LocalStatistics::part_rows(GrowState& state, Split& split, const Execution& execution) {
  const OpenNode& node = *split.node;
  const SplitInfo& candidate = split.info();
  const double threshold = split.cut().threshold;
  const bool has_scores =
      candidate.kind == SplitKind::ridge && !state.has_sparse_directions();
  const double* ridge = state.scores.data() + candidate.index * state.n_rows() + node.begin;
  std::int32_t* rows = state.rows.data() + node.begin;
  std::uint8_t* goes_left = goes_left_.data();
  struct Sides {
    std::vector<std::int32_t> left, right;
    index_t n_left = 0, n_right = 0;
  };
  std::vector<Sides> parts(count_parts(node.size, kPartedRows));
  for_each_part(execution, node.size, kPartedRows, [&](index_t p, index_t begin, index_t end) {
    Sides& sides = parts[p];
    sides.left.resize(end - begin + 1);
    sides.right.resize(end - begin + 1);
    std::vector<double> own_scores;
    if (!has_scores) {
      own_scores.resize(end - begin);
      score_rows(state, node, candidate, {rows + begin, end - begin}, own_scores.data());
    }
    const double* scores = has_scores ? ridge + begin : own_scores.data();
    for (index_t i = 0; i < end - begin; ++i) {  // without a branch: nothing predicts the next side
      const std::int32_t row = rows[begin + i];
      const bool is_left = scores[i] <= threshold;
      goes_left[row] = is_left;
      sides.left[sides.n_left] = sides.right[sides.n_right] = row;
      sides.n_left += is_left;
      sides.n_right += !is_left;
    }
  });
  std::int32_t* next = rows;
  for (const Sides& sides : parts) next = std::copy_n(sides.left.begin(), sides.n_left, next);
  for (const Sides& sides : parts) next = std::copy_n(sides.right.begin(), sides.n_right, next);
  split.children[0].begin = node.begin;
  split.children[1].begin = node.begin + split.cut().n_left;
}

// Only if a child may be split further.
void LocalStatistics::part_order(const GrowState& state, const std::vector<Split>& splits) {
  std::vector<const OpenNode*> nodes;
  for (const Split& split : splits)
    if (state.is_large_enough(split.children[0]) || state.is_large_enough(split.children[1]))
      nodes.push_back(split.node);
  const index_t d = order_.n_features();
  parallel_for(state.execution, static_cast<index_t>(nodes.size()) * d, [&](index_t t) {
    const OpenNode& node = *nodes[t / d];
    order_.part(t % d, node.begin, node.size, goes_left_.data());
  });
}

void LocalStatistics::part(GrowState& state, std::vector<Split>& splits) {
  std::vector<Split*> small;
  for (Split& split : splits) {
    if (split.node->size < kFewestShared)
      small.push_back(&split);
    else
      part_rows(state, split, state.execution);
  }
  parallel_for(state.execution, static_cast<index_t>(small.size()),
               [&](index_t i) { part_rows(state, *small[i], Execution()); });
  if (has_order()) part_order(state, splits);
}

std::vector<DecreaseSums> LocalStatistics::decreases(const GrowState& state,
                                               const std::vector<Split>& splits,
                                               const std::vector<SplitModels>& models) {
  struct Task {
    index_t split;
    int child;
    NodeRows rows;
  };
  const index_t n_splits = static_cast<index_t>(splits.size());
  std::vector<Task> tasks;
  for (index_t i = 0; i < n_splits; ++i)
    for (int side = 0; side < 2; ++side) {
      const NodeRows rows = state.rows_of(splits[i].children[side]);
      const Partition parts = partition_range(rows.size, kAcceptChunkRows, rows.size);
      for (index_t p = 0; p < parts.n_parts; ++p)
        tasks.push_back({i, side, {rows.rows + parts.begin(p), parts.end(p) - parts.begin(p)}});
    }
  std::vector<DecreaseSums> sums(tasks.size());
  parallel_for(state.execution, static_cast<index_t>(tasks.size()), [&](index_t t) {
    const SplitModels& of = models[tasks[t].split];
    sums[t] = sum_decreases(state.data, tasks[t].rows, of.node, of.children[tasks[t].child],
                            state.variance_of(*splits[tasks[t].split].node));
  });
  std::vector<DecreaseSums> totals(n_splits);
  for (std::size_t t = 0; t < tasks.size(); ++t) totals[tasks[t].split].add(sums[t].data());
  return totals;
}

}  // namespace fctree::oblique
