#include "oblique/split_search/search.hpp"

#include <algorithm>

#include "oblique/node_statistics.hpp"
#include "oblique/split_search/curvature.hpp"
#include "oblique/split_search/feature_draw.hpp"
#include "oblique/split_search/screening.hpp"
#include "oblique/split_search/sparse_direction.hpp"

namespace fctree::oblique {

namespace {

// Finds the nodes' curvature directions; the problems are kept if sparse directions are needed.
std::vector<CurvatureProblem> find_curvature(const GrowState& state,
                                             const std::vector<OpenNode*>& nodes) {
  std::vector<CurvatureProblem> problems(nodes.size());
  if (!state.params.curvature_directions) return problems;
  std::vector<OpenNode*> with_moments;
  std::vector<CurvatureProblem*> of_node;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (state.is_dual(*nodes[i])) continue;
    with_moments.push_back(nodes[i]);
    of_node.push_back(&problems[i]);
  }
  const auto scatter = state.statistics->residual_scatter(state, with_moments);
  parallel_for(state.execution, static_cast<index_t>(with_moments.size()), [&](index_t i) {
    *of_node[i] = curvature_problem(with_moments[i]->moments, scatter[i]);
    with_moments[i]->curvature = curvature_directions(*of_node[i], state.params.n_curvature);
    if (!state.has_sparse_directions()) *of_node[i] = CurvatureProblem();
  });
  return problems;
}

// promise (d): decides which axes are tried if not all are.
void propose_candidates(const GrowState& state, OpenNode& node, const Vector& promise) {
  const ObliqueParams& params = state.params;
  node.candidates.clear();
  const auto propose = [&](SplitKind kind, index_t count) {
    for (index_t i = 0; i < count; ++i) node.candidates.push_back({kind, i, {}});
  };
  if (params.ridge_directions) propose(SplitKind::ridge, state.data.n_outputs);
  if (params.curvature_directions) propose(SplitKind::curvature, node.curvature.cols());
  if (!params.axis_directions) return;
  const index_t n_free =
      node.features.empty() ? state.data.n_features : static_cast<index_t>(node.features.size());
  const bool screens = state.screens_axes();
  if (!screens && node.features.empty()) return propose(SplitKind::axis, n_free);
  for (index_t feature : screens ? most_promising(state, node, promise) : node.features)
    node.candidates.push_back({SplitKind::axis, feature, {}});
}

void draw_features(const GrowState& state, OpenNode& node) {
  if (!state.draws_features()) return;
  const NodeFeatures& rule = state.params.node_features;
  const Random random(rule.seed, Purpose::feature_sample);
  node.features = choose_features(random, {rule.tree, node.id}, rule.max_features,
                                  state.data.n_features);
}

ModelSearch prepare_model_search(const GrowState& state, const OpenNode& node) {
  const Moments prior =
      prior_of(node.moments, node.fit, state.origin, state.params.parent_weight);
  Matrix ancestors = node.ancestors;
  if (state.params.feature_concatenation) {
    ancestors.conservativeResize(Eigen::NoChange, ancestors.cols() + node.fit.coef.cols());
    ancestors.rightCols(node.fit.coef.cols()) = node.fit.coef;
  }
  ModelSearch search;
  search.models =
      child_models(prior, node.moments, ancestors, state.origin, state.ridge_options());
  search.products = products_about(node.moments, search.models.origin - state.origin);
  return search;
}

}  // namespace

void search_splits(GrowState& state, std::vector<OpenNode>& level) {
  std::vector<OpenNode*> nodes;
  for (OpenNode& node : level)
    if (state.may_split(node)) nodes.push_back(&node);
  const index_t n_nodes = static_cast<index_t>(nodes.size());
  if (nodes.empty()) return;
  if (state.has_models()) state.statistics->score_models(state, nodes);
  const std::vector<CurvatureProblem> problems = find_curvature(state, nodes);
  std::vector<ModelSearch> searches(state.params.ridge_criterion ? nodes.size() : 0);
  Execution preparing = state.execution;  // negligible for the constant criterion
  if (!state.params.ridge_criterion && !state.has_sparse_directions()) preparing.n_threads = 1;
  parallel_for(preparing, n_nodes, [&](index_t i) {
    draw_features(state, *nodes[i]);
    restrict_curvature(state, *nodes[i], problems[i]);
  });
  std::vector<Vector> promises(nodes.size());
  if (state.screens_axes()) promises = state.statistics->promises(state, nodes);
  parallel_for(preparing, n_nodes, [&](index_t i) {
    propose_candidates(state, *nodes[i], promises[i]);
    if (state.has_sparse_directions()) sparsify_directions(state, *nodes[i], problems[i]);
    if (state.params.ridge_criterion) searches[i] = prepare_model_search(state, *nodes[i]);
  });

  std::vector<CutTask> tasks;
  for (index_t i = 0; i < n_nodes; ++i) {
    for (index_t c = 0; c < static_cast<index_t>(nodes[i]->candidates.size()); ++c)
      tasks.push_back({nodes[i], c, searches.empty() ? nullptr : &searches[i]});
  }
  state.statistics->find_cuts(state, tasks);
}

}  // namespace fctree::oblique
