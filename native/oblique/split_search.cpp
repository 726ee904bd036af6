#include "oblique/split_search.hpp"

#include <algorithm>
#include <limits>

#include "oblique/curvature.hpp"
#include "oblique/dense.hpp"
#include "oblique/feature_draw.hpp"
#include "oblique/model_cut.hpp"
#include "oblique/screening.hpp"
#include "oblique/sparse_direction.hpp"

namespace fctree {

namespace {

constexpr index_t kScoreChunkRows = 4096;

RowSelection select(const TrainingData& data, const NodeRows& rows) {
  return {data.x, data.y, nullptr, rows.rows, rows.size, data.n_features, data.n_outputs};
}

// Scores of all nodes along their ridge directions: the one step that a large node needs
// cut into rows to run in parallel.
void score_ridge_directions(GrowState& state, const std::vector<OpenNode*>& nodes) {
  struct Task {
    const OpenNode* node;
    index_t begin;
    index_t end;
  };
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
    dense_kernels().project(select(state.data, rows), task.node->fit.coef.data(),
                            state.data.n_outputs, state.scores.data() + begin, state.n_rows());
  });
}

// Residual-weighted scatter of every node, one matrix an output.
std::vector<std::vector<Matrix>> sum_residual_scatter(const GrowState& state,
                                                      const std::vector<OpenNode*>& nodes) {
  const TrainingData& data = state.data;
  const index_t d = data.n_features;
  std::vector<NodeRows> rows;
  std::vector<Vector> means;
  for (const OpenNode* node : nodes) {
    rows.push_back(state.rows_of(*node));
    means.push_back(node->moments.mean + state.origin);
  }
  std::vector<std::vector<Matrix>> scatter(nodes.size());
  std::vector<double> residuals(data.n_samples);
  for (index_t k = 0; k < data.n_outputs; ++k) {
    parallel_for(state.execution, static_cast<index_t>(nodes.size()), [&](index_t i) {
      const OpenNode& node = *nodes[i];
      const double* scores = state.scores.data() + k * state.n_rows() + node.begin;
      for (index_t at = 0; at < node.size; ++at) {
        const index_t row = rows[i].rows[at];
        const double weight = data.weight == nullptr ? 1.0 : data.weight[row];
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

// Finds the nodes' curvature directions; the problems are kept where sparse ones are wanted.
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
  const auto scatter = sum_residual_scatter(state, with_moments);
  parallel_for(state.execution, static_cast<index_t>(with_moments.size()), [&](index_t i) {
    *of_node[i] = curvature_problem(with_moments[i]->moments, scatter[i]);
    with_moments[i]->curvature = curvature_directions(*of_node[i], state.params.n_curvature);
    if (!state.has_sparse_directions()) *of_node[i] = CurvatureProblem();
  });
  return problems;
}

void propose_candidates(const GrowState& state, OpenNode& node) {
  const ObliqueParams& params = state.params;
  node.candidates.clear();
  const auto propose = [&](SplitKind kind, index_t count) {
    for (index_t i = 0; i < count; ++i) node.candidates.push_back({kind, i});
  };
  if (params.ridge_directions) propose(SplitKind::ridge, state.data.n_outputs);
  if (params.curvature_directions) propose(SplitKind::curvature, node.curvature.cols());
  if (!params.axis_directions) return;
  const index_t n_free =
      node.features.empty() ? state.data.n_features : static_cast<index_t>(node.features.size());
  const bool screens = params.ridge_criterion && params.n_screened < n_free;
  if (!screens && node.features.empty()) return propose(SplitKind::axis, n_free);
  for (index_t feature : screens ? screen_axes(state, node) : node.features)
    node.candidates.push_back({SplitKind::axis, feature});
}

void draw_features(const GrowState& state, OpenNode& node) {
  if (!state.draws_features()) return;
  const NodeFeatures& rule = state.params.node_features;
  const Random random(rule.seed, Purpose::feature_sample);
  node.features = choose_features(random, {rule.tree, node.id}, rule.max_features,
                                  state.data.n_features);
}

// Scores closer than their own rounding error are the same score.
double score_noise(const GrowState& state, const OpenNode& node, const Vector& direction) {
  const index_t d = state.data.n_features;
  const Vector mean = (node.moments.mean + state.origin).head(d);
  const Vector size =
      (mean.cwiseAbs2() + node.moments.diagonal.head(d) / node.moments.weight).cwiseSqrt();
  return 8.0 * std::numeric_limits<double>::epsilon() * direction.cwiseAbs().dot(size);
}

// What the ridge criterion prepares once a node, for all its candidates.
struct ModelSearch {
  ChildModels models;
  RowMatrix products;
};

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

Cut search_candidate(const GrowState& state, const OpenNode& node, const Candidate& candidate,
                     const ModelSearch* search) {
  const NodeRows rows = state.rows_of(node);
  std::vector<double> own_scores;
  const double* scores = candidate_scores(state, node, candidate, own_scores);
  const Vector direction = direction_of(state, node, candidate);
  const CutRules rules = {state.params.min_samples_leaf, score_noise(state, node, direction)};
  if (search == nullptr)
    return best_cut(state.data, rows, state.target_mean(node), node.moments.weight, scores, rules);
  return best_model_cut(state.data, rows, search->models, search->products, scores,
                        {rules, state.params.max_thresholds, node.loss});
}

}  // namespace

void score_rows(const GrowState& state, const OpenNode& node, const Candidate& candidate,
                const NodeRows& rows, double* scores) {
  const index_t d = state.data.n_features;
  if (candidate.kind == SplitKind::axis) {
    for (index_t i = 0; i < rows.size; ++i)
      scores[i] = state.data.x[rows.rows[i] * d + candidate.index];
    return;
  }
  const Vector direction = direction_of(state, node, candidate);
  dense_kernels().project(select(state.data, rows), direction.data(), 1, scores, rows.size);
}

const double* candidate_scores(const GrowState& state, const OpenNode& node,
                               const Candidate& candidate, std::vector<double>& storage) {
  if (candidate.kind == SplitKind::ridge && !state.has_sparse_directions())
    return state.scores.data() + candidate.index * state.n_rows() + node.begin;
  storage.resize(node.size);
  score_rows(state, node, candidate, state.rows_of(node), storage.data());
  return storage.data();
}

Vector direction_of(const GrowState& state, const OpenNode& node, const Candidate& candidate) {
  switch (candidate.kind) {
    case SplitKind::ridge:
      return state.ridge_directions(node).col(candidate.index);
    case SplitKind::curvature:
      return node.curvature.col(candidate.index);
    default:
      return Vector::Unit(state.data.n_features, candidate.index);
  }
}

void search_splits(GrowState& state, std::vector<OpenNode>& level) {
  std::vector<OpenNode*> nodes;
  for (OpenNode& node : level)
    if (state.may_split(node)) nodes.push_back(&node);
  const index_t n_nodes = static_cast<index_t>(nodes.size());
  if (state.has_models()) score_ridge_directions(state, nodes);
  const std::vector<CurvatureProblem> problems = find_curvature(state, nodes);
  std::vector<ModelSearch> searches(state.params.ridge_criterion ? nodes.size() : 0);
  Execution preparing = state.execution;  // nothing to speak of for the constant criterion
  if (!state.params.ridge_criterion && !state.has_sparse_directions()) preparing.n_threads = 1;
  parallel_for(preparing, n_nodes, [&](index_t i) {
    draw_features(state, *nodes[i]);
    restrict_curvature(state, *nodes[i], problems[i]);
    propose_candidates(state, *nodes[i]);
    if (state.has_sparse_directions()) sparsify_directions(state, *nodes[i], problems[i]);
    if (state.params.ridge_criterion) searches[i] = prepare_model_search(state, *nodes[i]);
  });

  struct Task {
    index_t node;
    index_t candidate;
  };
  std::vector<Task> tasks;
  for (index_t i = 0; i < n_nodes; ++i) {
    nodes[i]->cuts.assign(nodes[i]->candidates.size(), Cut());
    for (index_t c = 0; c < static_cast<index_t>(nodes[i]->candidates.size()); ++c)
      tasks.push_back({i, c});
  }
  parallel_for(state.execution, static_cast<index_t>(tasks.size()), [&](index_t t) {
    OpenNode& node = *nodes[tasks[t].node];
    node.cuts[tasks[t].candidate] =
        search_candidate(state, node, node.candidates[tasks[t].candidate],
                         searches.empty() ? nullptr : &searches[tasks[t].node]);
  });
}

}  // namespace fctree
