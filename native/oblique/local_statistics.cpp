#include "oblique/local_statistics.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/buffer.hpp"
#include "oblique/score_rows.hpp"
#include "oblique/split_search/screening.hpp"
#include "ridge/dense.hpp"
#include "ridge/penalty_choice.hpp"
#include "ridge/row_blocks.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kScoreChunkRows = 1024;
constexpr index_t kAcceptChunkRows = 512;
constexpr index_t kPartedRows = 1024;

// An order and a tree's share of it take three times the memory of the values.
constexpr index_t kMostSortedValues = 10'000'000;

std::vector<NodeRows> rows_of(const GrowState& state, const std::vector<OpenNode*>& nodes) {
  std::vector<NodeRows> rows;
  for (const OpenNode* node : nodes) rows.push_back(state.rows_of(*node));
  return rows;
}

// Whether a node whose model needs no moments still needs the features' means and diagonal: not a leaf that predicts a
// constant.
bool needs_features(const GrowState& state, const OpenNode& node) {
  return node.depth == 0 || state.needs_fit(node);
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
  state.rows = weighted_rows(data, state.execution);
  if (state.rows.empty()) throw std::invalid_argument("sample_weight is zero for every sample, or next to zero beside the largest");
  order_.clear();
  if (features_ != nullptr && sorts_axes(state.params)) {
    if (has_bins())
      bin_cuts_.emplace(bins_of_columns(), data, state.execution);
    else
      order_.take(features_->order, places_of(columns_, features_->columns), data.weight, state.n_rows(),
                  state.execution);
  }
  goes_left_.resize(data.n_samples);
  root.size = state.n_rows();
  state.origin = heaviest_sample(data, state.rows_of(root), state.execution);
}

void LocalStatistics::open_leaves(GrowState& state, const std::int32_t* leaf, const std::vector<OpenNode*>& leaves) {
  const index_t n = state.data.n_samples, n_leaves = static_cast<index_t>(leaves.size());
  const index_t length = std::max(kPartedRows, n_leaves), n_parts = count_parts(n, length);
  std::vector<index_t> places(n_parts * n_leaves, 0);  // first the numbers
  for_each_part(state.execution, n, length, [&](index_t p, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i)
      if (leaf[i] >= 0) ++places[p * n_leaves + leaf[i]];
  });
  index_t size = 0;
  for (index_t own = 0; own < n_leaves; ++own) {
    leaves[own]->begin = size;
    for (index_t p = 0; p < n_parts; ++p) size += std::exchange(places[p * n_leaves + own], size);
    leaves[own]->size = size - leaves[own]->begin;
  }
  state.rows = Buffer<std::int32_t>(size);
  for_each_part(state.execution, n, length, [&](index_t p, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i)
      if (leaf[i] >= 0) state.rows[places[p * n_leaves + leaf[i]]++] = static_cast<std::int32_t>(i);
  });
  state.origin = heaviest_sample(state.data, {state.rows.data(), size}, state.execution);
}

// Those of the index where the tree sees all of its columns.
std::shared_ptr<const BinnedFeatures> LocalStatistics::bins_of_columns() const {
  const index_t n_columns = features_->bins->bins.n_features();
  if (static_cast<index_t>(columns_.size()) == n_columns) return features_->bins;
  return std::make_shared<BinnedFeatures>(features_->bins->of(places_of(columns_, features_->columns)));
}

std::vector<Moments> LocalStatistics::full_moments(const GrowState& state, const std::vector<OpenNode*>& nodes) {
  return sum_moments(state.data, rows_of(state, nodes), state.origin, state.execution);
}

std::vector<Moments> LocalStatistics::simple_moments(const GrowState& state, const std::vector<OpenNode*>& nodes) {
  std::vector<NodeRows> whole, targets_alone;
  for (const OpenNode* node : nodes)
    (needs_features(state, *node) ? whole : targets_alone).push_back(state.rows_of(*node));
  TrainingData targets = state.data;
  targets.n_features = 0;
  targets.features = nullptr;
  std::vector<Moments> of_whole = sum_diagonals(state.data, whole, state.origin, state.execution);
  std::vector<Moments> of_targets = sum_diagonals(
      targets, targets_alone, state.origin.tail(targets.n_outputs), state.execution);
  auto next_whole = of_whole.begin(), next_targets = of_targets.begin();
  std::vector<Moments> moments;
  for (const OpenNode* node : nodes)
    moments.push_back(std::move(needs_features(state, *node) ? *next_whole++ : *next_targets++));
  return moments;
}

double LocalStatistics::find_alpha(const GrowState& state, const OpenNode& root) {
  return choose_alpha(state.data, state.rows_of(root), root.moments, state.origin,
                      state.params.fit_intercept, state.execution);
}

SampleSums LocalStatistics::sum_samples(const GrowState& state, const OpenNode& root) {
  return ridge::sum_samples(state.data, state.rows_of(root), state.execution);
}

// Scores of all nodes along their ridge directions.
void LocalStatistics::score_models(GrowState& state, const std::vector<OpenNode*>& nodes) {
  state.scores.reserve(state.n_rows() * state.data.n_outputs);
  const RowParts parts(rows_of(state, nodes), kScoreChunkRows);
  parallel_for(state.execution, parts.n(), [&](index_t p) {
    const OpenNode& node = *nodes[parts[p].node];
    const index_t begin = node.begin + parts[p].begin;
    for_each_selection(state.data, parts[p].rows, nullptr, [&](const RowSelection& some, index_t first) {
      dense_kernels().project(some, node.fit.coef.data(), state.data.n_outputs,
                              state.scores.data() + begin + first, state.n_rows());
    });
  });
}

std::vector<std::vector<Matrix>> LocalStatistics::residual_scatter(
    const GrowState& state, const std::vector<OpenNode*>& nodes) {
  const TrainingData& data = state.data;
  const index_t d = data.n_features, n_nodes = static_cast<index_t>(nodes.size());
  std::vector<Vector> means;
  for (const OpenNode* node : nodes) means.push_back(node->moments.mean + state.origin);
  std::vector<std::vector<Matrix>> scatter(nodes.size());
  Buffer<double> residuals(data.n_samples);
  TrainingData features_alone = data;
  features_alone.n_outputs = 0;
  ProductSums sums(features_alone, rows_of(state, nodes));
  const RowParts& parts = sums.parts();
  std::vector<Phase> phases;
  for (index_t k = 0; k < data.n_outputs; ++k) {
    phases.push_back({parts.n(), [&, k](index_t p) {
      const auto [number, begin, rows] = parts[p];
      const OpenNode& node = *nodes[number];
      const double* scores = state.scores.data() + k * state.n_rows() + node.begin + begin;
      for (index_t at = 0; at < rows.size; ++at) {
        const index_t row = rows.rows[at];
        residuals[row] = weighted_residual(data, node, row, k, scores[at]);
      }
      sums.add(p, means[number], residuals.data());
    }});
    phases.push_back({n_nodes, [&](index_t i) {
      scatter[i].push_back(sums.take_total(i).topLeftCorner(d, d));
    }});
  }
  parallel_phases(state.execution, phases);
  return scatter;
}

std::vector<Vector> LocalStatistics::promises(const GrowState& state, const std::vector<OpenNode*>& nodes) {
  return promises_of(state, nodes);
}

// Left rows first, each side in ascending order: parts of the rows are divided, then put in their places. Then the order
// of the features, only if a child may be split further.
void LocalStatistics::part(GrowState& state, std::vector<Split>& splits) {
  struct Sides {
    std::vector<std::int32_t> left, right;
    index_t n_left = 0, n_right = 0;
    std::int32_t *left_place = nullptr, *right_place = nullptr;
  };
  std::vector<NodeRows> nodes;
  std::vector<const OpenNode*> ordered;
  for (const Split& split : splits) {
    nodes.push_back(state.rows_of(*split.node));
    const auto& [left, right] = split.children;
    if (has_order() && (state.is_large_enough(left) || state.is_large_enough(right)))
      ordered.push_back(split.node);
  }
  const RowParts parts(nodes, kPartedRows);
  std::vector<Sides> sides_of(parts.n());
  std::uint8_t* goes_left = goes_left_.data();
  const auto divide = [&](index_t p) {
    const auto [number, begin, part] = parts[p];
    const OpenNode& node = *splits[number].node;
    const SplitInfo& candidate = splits[number].info();
    const double threshold = splits[number].cut().threshold;
    Sides& sides = sides_of[p];
    sides.left.resize(part.size + 1);
    sides.right.resize(part.size + 1);
    std::vector<double> own_scores;
    const double* scores = known_scores(state, node, candidate);
    if (scores != nullptr) {
      scores += begin;
    } else {
      own_scores.resize(part.size);
      score_rows(state, node, candidate, part, own_scores.data());
      scores = own_scores.data();
    }
    for (index_t i = 0; i < part.size; ++i) {  // without a branch: nothing predicts the next side
      const std::int32_t row = part.rows[i];
      const bool is_left = scores[i] <= threshold;
      goes_left[row] = is_left;
      sides.left[sides.n_left] = sides.right[sides.n_right] = row;
      sides.n_left += is_left;
      sides.n_right += !is_left;
    }
  };
  const auto find_places = [&](index_t i) {
    auto& [left, right] = splits[i].children;
    left.begin = splits[i].node->begin;
    right.begin = left.begin + splits[i].cut().n_left;
    std::int32_t* place = state.rows.data() + left.begin;
    for (index_t p = parts.first(i); p < parts.first(i + 1); ++p) {
      sides_of[p].left_place = place;
      place += sides_of[p].n_left;
    }
    for (index_t p = parts.first(i); p < parts.first(i + 1); ++p) {
      sides_of[p].right_place = place;
      place += sides_of[p].n_right;
    }
  };
  const auto place = [&](index_t p) {
    const Sides& sides = sides_of[p];
    std::copy_n(sides.left.begin(), sides.n_left, sides.left_place);
    std::copy_n(sides.right.begin(), sides.n_right, sides.right_place);
  };
  const index_t d = order_.n_features();
  const auto part_order = [&](index_t t) {
    const OpenNode& node = *ordered[t / d];
    order_.part(t % d, node.begin, node.size, goes_left);
  };
  std::vector<Phase> phases = {{parts.n(), divide}, {static_cast<index_t>(splits.size()), find_places}, {parts.n(), place}};
  if (!ordered.empty()) phases.push_back({static_cast<index_t>(ordered.size()) * d, part_order});
  parallel_phases(state.execution, phases);
}

std::vector<DecreaseSums> LocalStatistics::decreases(const GrowState& state, const std::vector<Split>& splits,
                                                     const std::vector<SplitModels>& models) {
  std::vector<NodeRows> children;
  for (const Split& split : splits)
    for (const OpenNode& child : split.children) children.push_back(state.rows_of(child));
  const RowParts parts(children, kAcceptChunkRows);
  std::vector<DecreaseSums> sums(parts.n());
  parallel_for(state.execution, parts.n(), [&](index_t p) {
    const index_t split = parts[p].node / 2, side = parts[p].node % 2;
    const SplitModels& of = models[split];
    sums[p] = sum_decreases(state.data, parts[p].rows, of.node, of.children[side],
                            state.typical_decrease(*splits[split].node));
  });
  std::vector<DecreaseSums> totals(splits.size());
  for (index_t p = 0; p < parts.n(); ++p) totals[parts[p].node / 2].add(sums[p].data());
  return totals;
}

}  // namespace fctree::oblique
