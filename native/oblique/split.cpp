#include "oblique/split.hpp"

#include <algorithm>
#include <cmath>

#include "oblique/node_statistics.hpp"
#include "oblique/split_search/leave_one_out.hpp"
#include "ridge/side_losses.hpp"

namespace fctree::oblique {

namespace {

void open_children(const GrowState& state, Split& split) {
  const OpenNode& node = *split.node;
  const Cut& cut = split.cut();
  const bool by_score = split.info().kind == SplitKind::ridge && !state.params.ridge_criterion;
  OpenNode& left = split.children[0] = child_of(state, node, by_score ? split.info().index : -1);
  OpenNode& right = split.children[1] = left;
  left.size = cut.n_left;
  left.loss = cut.left_loss;
  right.size = node.size - cut.n_left;
  right.loss = cut.right_loss;
}

void sum_nodes(const GrowState& state, const std::vector<OpenNode*>& nodes) {
  if (nodes.empty()) return;
  std::vector<Moments> moments = state.statistics->full_moments(state, nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i]->moments = std::move(moments[i]);
}

// The smaller child's moments are summed, the larger one's follow by subtraction.
void sum_children(const GrowState& state, std::vector<Split>& splits) {
  struct Pair {
    const OpenNode* parent;
    OpenNode* smaller;
    OpenNode* larger;
  };
  std::vector<Pair> pairs;
  std::vector<OpenNode*> smaller, simple;
  for (Split& split : splits) {
    auto& [left, right] = split.children;
    const bool left_smaller = left.size <= right.size;
    OpenNode* small = left_smaller ? &left : &right;
    OpenNode* large = left_smaller ? &right : &left;
    if (state.needs_fit(*large) && !state.is_dual(*large)) {
      pairs.push_back({split.node, small, large});
      smaller.push_back(small);
    } else {
      simple.push_back(small);
      simple.push_back(large);
    }
  }
  sum_nodes(state, smaller);
  const double d = static_cast<double>(state.data.n_features);
  const Execution subtracting =
      limit_threads(state.execution, d * d * static_cast<double>(pairs.size()));
  parallel_for(subtracting, static_cast<index_t>(pairs.size()), [&](index_t i) {
    const Pair& pair = pairs[i];
    pair.larger->moments = subtract_moments(pair.parent->moments, pair.smaller->moments);
  });
  std::vector<OpenNode*> unresolved;
  for (const Pair& pair : pairs)
    if (!is_resolved(pair.larger->moments)) unresolved.push_back(pair.larger);
  sum_nodes(state, unresolved);
  for (OpenNode* node : smaller)
    if (state.is_dual(*node)) node->moments.scatter.resize(0, 0);
  if (simple.empty()) return;
  std::vector<Moments> moments = state.statistics->simple_moments(state, simple);
  for (std::size_t i = 0; i < simple.size(); ++i) simple[i]->moments = std::move(moments[i]);
}

LeverageModel model_of(const GrowState& state, const OpenNode& node) {
  if (!state.params.ridge_criterion)
    return constant_model(state.target_mean(node), node.moments.weight, state.data.n_features);
  return leverage_model(pool_moments(node.moments, node.prior), node.fit, node.ancestors,
                        state.origin, state.ridge_options());
}

// Number of directions among which the split was chosen, screened-out axes included.
index_t count_directions(const GrowState& state, const OpenNode& node) {
  index_t n_directions = static_cast<index_t>(node.candidates.size());
  if (!searches(state.params, SplitKind::axis) || !state.params.ridge_criterion)
    return n_directions;
  n_directions -= std::count_if(node.candidates.begin(), node.candidates.end(),
                                [](const SplitInfo& c) { return c.kind == SplitKind::axis; });
  return n_directions + (node.moments.diagonal.head(state.data.n_features).array() > 0.0).count();
}

// How many a direction stands for: that of the largest curvature was found among all of d dimensions.
double directions_like(SplitKind kind, index_t n_features) {
  constexpr double kFew = 5.0;  // where they hardly count
  if (kind != SplitKind::curvature) return 1.0;
  return std::pow(std::max(static_cast<double>(n_features) / kFew, 1.0), 3.0);
}

// Cuts of a direction that count as tried. The number of rows is no limit, since copies would raise it.
constexpr index_t kMostCuts = 256;

// Which splits pass the leave-one-out test.
void judge(const GrowState& state, std::vector<Split>& splits) {
  const index_t n_splits = static_cast<index_t>(splits.size());
  std::vector<SplitModels> models(n_splits);
  parallel_for(for_systems(state, 3 * n_splits), n_splits, [&](index_t i) {
    models[i].node = model_of(state, *splits[i].node);
    for (int side = 0; side < 2; ++side)
      models[i].children[side] = model_of(state, splits[i].children[side]);
  });
  const std::vector<DecreaseSums> totals = state.statistics->decreases(state, splits, models);
  for (index_t i = 0; i < n_splits; ++i) {
    const OpenNode& node = *splits[i].node;
    const index_t n_cuts = std::min(state.params.max_thresholds, kMostCuts);
    const double n_tried = static_cast<double>(count_directions(state, node) * n_cuts) *
                           directions_like(splits[i].info().kind, state.data.n_features);
    splits[i].accepted = passes_leave_one_out(totals[i], n_tried, state.params.split_margin);
  }
}

}  // namespace

Execution for_systems(const GrowState& state, index_t n_systems) {
  constexpr double kOfNode = 2000.0, kOfSquare = 50.0;
  const double d = state.has_models() ? static_cast<double>(state.data.n_features) : 0.0;
  const double work = kOfNode + d * d * (kOfSquare + d);
  return limit_threads(state.execution, work * static_cast<double>(n_systems));
}

OpenNode child_of(const GrowState& state, const OpenNode& node, index_t output) {
  OpenNode child;
  child.depth = node.depth + 1;
  if (state.params.node_features.once) child.features = node.features;
  child.ancestors = ancestors_of_children(state, node, output);
  if (state.params.ridge_criterion)
    child.prior = prior_of(node.moments, node.fit, state.origin, state.params.parent_weight);
  return child;
}

void fit_node(const GrowState& state, OpenNode& node) {
  if (state.is_dual(node))
    node.fit = fit_ridge_dual(state.data, state.statistics->few_rows(state, node), node.moments, node.ancestors,
                              state.origin, state.ridge_options());
  else
    node.fit = fit_ridge(pool_moments(node.moments, node.prior), node.ancestors, state.origin,
                         state.ridge_options());
}

void carry_out(GrowState& state, std::vector<Split>& splits) {
  const index_t n_splits = static_cast<index_t>(splits.size());
  if (splits.empty()) return;
  parallel_for(for_systems(state, n_splits), n_splits,
               [&](index_t i) { open_children(state, splits[i]); });
  state.statistics->part(state, splits);
  sum_children(state, splits);
  parallel_for(for_systems(state, 2 * n_splits), 2 * n_splits, [&](index_t i) {
    OpenNode& child = splits[i / 2].children[i % 2];
    if (state.needs_fit(child)) fit_node(state, child);
  });
  if (state.params.judges_splits()) judge(state, splits);
}

}  // namespace fctree::oblique
