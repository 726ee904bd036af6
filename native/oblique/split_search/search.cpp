#include "oblique/split_search/search.hpp"

#include <algorithm>
#include <memory>

#include "oblique/node_statistics.hpp"
#include "oblique/split_search/directions.hpp"
#include "oblique/split_search/feature_draw.hpp"

namespace fctree::oblique {

namespace {

// One a kind of directions that is searched.
std::vector<std::unique_ptr<DirectionSearch>> searches_of(const GrowState& state,
                                                          const std::vector<OpenNode*>& nodes) {
  const std::vector<DirectionKind>& kinds = direction_kinds();
  std::vector<std::unique_ptr<DirectionSearch>> searching;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const auto kind = static_cast<SplitKind>(k);
    if (searches(state.params, kind)) searching.push_back(kinds[k].search(state, kind, nodes));
  }
  for (OpenNode* node : nodes) {
    node->candidates.clear();
    node->directions.assign(kinds.size(), Matrix());
  }
  return searching;
}

void draw_features(const GrowState& state, OpenNode& node) {
  const NodeFeatures& rule = state.params.node_features;
  if (rule.once && !node.features.empty()) return;  // those of its parent
  const Random random(rule.seed, Purpose::feature_sample);
  node.features = choose_features(random, {rule.tree, node.id}, rule.max_features,
                                  state.data.n_features);
}

ModelSearch prepare_model_search(const GrowState& state, const OpenNode& node) {
  const Moments prior =
      prior_of(node.moments, node.fit, state.origin, state.params.parent_weight);
  ModelSearch search;
  search.models = child_models(prior, node.moments, ancestors_of_children(state, node), state.origin,
                               state.ridge_options());
  search.products = products_about(node.moments, search.models.origin - state.origin);
  return search;
}

// Of choosing what is searched in these nodes, in multiply-adds.
double preparing_work(const GrowState& state, index_t n_nodes) {
  constexpr double kOfNode = 500.0, kOfFeature = 30.0, kOfSystem = 50.0, kOfSparse = 1000.0;
  const double d = static_cast<double>(state.data.n_features);
  double work = kOfNode + kOfFeature * d;
  if (state.params.ridge_criterion) work += kOfSystem * d * d;
  if (state.has_models() && state.has_sparse_directions()) work += kOfSparse * d * d;
  return work * static_cast<double>(n_nodes);
}

// The best candidate of each kind of directions, if it has any with a cut.
std::vector<index_t> best_of_kinds(const OpenNode& node) {
  std::vector<index_t> best(direction_kinds().size(), -1);
  for (index_t c = 0; c < static_cast<index_t>(node.candidates.size()); ++c) {
    const SplitInfo& candidate = node.candidates[c];
    index_t& known = best[static_cast<std::size_t>(candidate.kind)];
    const double to_beat = known < 0 ? 0.0 : node.candidates[known].cut.decrease;
    if (candidate.cut.found && is_better_by_models(candidate.cut.decrease, to_beat, node.loss)) known = c;
  }
  best.erase(std::remove(best.begin(), best.end(), -1), best.end());
  return best;
}

// Tries more cuts beside the best ones of each node, closer and closer to them.
void refine_cuts(GrowState& state, const std::vector<OpenNode*>& nodes,
                 const std::vector<ModelSearch>& models) {
  constexpr index_t kRounds = 3;  // of tens of thousands of scores some that lie side by side are left
  std::vector<CutTask> tasks;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const index_t best : best_of_kinds(*nodes[i])) tasks.push_back({nodes[i], best, &models[i]});
  for (index_t round = 0; round < kRounds && !tasks.empty(); ++round) {
    std::vector<Cut> before;
    for (const CutTask& task : tasks) before.push_back(task.split().cut);
    state.statistics->find_cuts(state, tasks);
    std::vector<CutTask> better;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      Cut& cut = tasks[t].split().cut;
      const Cut& known = before[t];
      if (cut.found && is_better_by_models(cut.decrease, known.decrease, tasks[t].node->loss)) {
        cut.lower = std::max(cut.lower, known.lower);
        cut.upper = std::min(cut.upper, known.upper);
        better.push_back(tasks[t]);
      } else {
        cut = known;
      }
    }
    tasks = better;
  }
}

}  // namespace

void search_splits(GrowState& state, std::vector<OpenNode>& level) {
  std::vector<OpenNode*> nodes;
  for (OpenNode& node : level)
    if (state.may_split(node)) nodes.push_back(&node);
  const index_t n_nodes = static_cast<index_t>(nodes.size());
  if (nodes.empty()) return;
  if (state.has_models()) state.statistics->score_models(state, nodes);
  const auto kinds = searches_of(state, nodes);
  for (const auto& kind : kinds) kind->find();
  const Execution preparing = limit_threads(state.execution, preparing_work(state, n_nodes));
  parallel_for(preparing, state.draws_features() ? n_nodes : 0, [&](index_t i) {
    draw_features(state, *nodes[i]);
    for (const auto& kind : kinds) kind->restrict_to_drawn(i);
  });
  for (const auto& kind : kinds) kind->screen();
  std::vector<ModelSearch> models(state.params.ridge_criterion ? nodes.size() : 0);
  parallel_for(preparing, n_nodes, [&](index_t i) {
    for (const auto& kind : kinds) {
      kind->propose(i);
      if (state.has_sparse_directions()) kind->sparsify(i);
    }
    if (state.params.ridge_criterion) models[i] = prepare_model_search(state, *nodes[i]);
  });

  std::vector<CutTask> tasks;
  for (index_t i = 0; i < n_nodes; ++i) {
    for (index_t c = 0; c < static_cast<index_t>(nodes[i]->candidates.size()); ++c)
      tasks.push_back({nodes[i], c, models.empty() ? nullptr : &models[i]});
  }
  state.statistics->find_cuts(state, tasks);
  if (state.params.ridge_criterion && state.params.refines_cuts) refine_cuts(state, nodes, models);
}

}  // namespace fctree::oblique
