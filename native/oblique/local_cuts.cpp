// The best cut of each candidate of a level whose samples are local.
#include <algorithm>

#include "oblique/local_statistics.hpp"
#include "oblique/score_rows.hpp"
#include "oblique/split_search/ridge_split.hpp"
#include "oblique/split_search/sampled_cuts.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kFewestBetween = 128;  // rows between two cuts that are summed by themselves
constexpr index_t kMostNumbers = index_t{1} << 23;  // of sums between cuts at once, and scores and places of rows

bool is_large(const CutTask& task) { return task.node->size > kMostSortedRows; }

ModelCutRules rules_of(const GrowState& state, const CutTask& task) {
  return {cut_rules(state, *task.node, task.split()), state.params.max_thresholds,
          task.split().cut.lower, task.split().cut.upper};
}

SampledSearch sampled_search(const GrowState& state, const CutTask& task, TriedCuts* cuts) {
  const OpenNode& node = *task.node;
  const auto score = [&state, &node, task](index_t begin, const NodeRows& rows, double* scores) {
    const double* known = known_scores(state, node, task.split());
    if (known != nullptr)
      std::copy_n(known + begin, rows.size, scores);
    else
      score_rows(state, node, task.split(), rows, scores);
  };
  return {state.rows_of(node), rules_of(state, task), score, cuts};
}

TriedCuts cuts_of(const GrowState& state, const CutTask& task) {
  TriedCuts cuts;
  if (is_large(task)) {
    find_sampled_cuts(state.data, {sampled_search(state, task, &cuts)}, Execution());
    return cuts;
  }
  const OpenNode& node = *task.node;
  std::vector<double> own_scores;
  const double* scores = candidate_scores(state, node, task.split(), own_scores);
  return cuts_to_try(state.data, state.rows_of(node), scores, rules_of(state, task));
}

Cut cut_by_models(const CutTask& task, const TriedCuts& cuts,
                  const std::function<void(index_t, RowMatrix&)>& add_between) {
  const ModelSearch& search = *task.search;
  return best_model_cut(cuts, search.models, search.products, task.node->loss, add_between);
}

// Whether what is between two cuts has a sum of its own, so that it can be a task.
bool has_pieces(const GrowState& state, const CutTask& task) {
  return task.node->size >= kFewestBetween * (state.params.max_thresholds + 1);
}

Cut find_cut(const GrowState& state, const CutTask& task) {
  const TriedCuts cuts = cuts_of(state, task);
  const bool in_pieces = has_pieces(state, task);
  const auto add_between = [&](index_t i, RowMatrix& products) {
    add_products(state.data, cuts.between(i), state.data.weight, task.search->models.origin.data(), products.data());
  };
  RowMatrix between;
  return cut_by_models(task, cuts, [&](index_t i, RowMatrix& left) {
    if (!in_pieces) return add_between(i, left);
    between.setZero(left.rows(), left.cols());
    add_between(i, between);
    left += between;
  });
}

// The same of many tasks, which are divided into one for the rows between two cuts.
void find_cuts_in_pieces(const GrowState& state, const CutTask* tasks, index_t n_tasks) {
  const index_t n_most = state.params.max_thresholds;
  std::vector<TriedCuts> cuts(n_tasks);
  std::vector<RowMatrix> between(n_tasks * n_most);
  std::vector<SampledSearch> large;
  for (index_t t = 0; t < n_tasks; ++t)
    if (is_large(tasks[t])) large.push_back(sampled_search(state, tasks[t], &cuts[t]));
  if (!large.empty()) find_sampled_cuts(state.data, large, state.execution);
  const auto try_cuts = [&](index_t t) {
    if (!is_large(tasks[t])) cuts[t] = cuts_of(state, tasks[t]);
  };
  const auto sum_piece = [&](index_t piece) {
    const index_t t = piece / n_most, i = piece % n_most;
    if (i >= cuts[t].n()) return;
    const ModelSearch& search = *tasks[t].search;
    between[piece] = RowMatrix::Zero(search.products.rows(), search.products.cols());
    add_products(state.data, cuts[t].between(i), state.data.weight, search.models.origin.data(), between[piece].data());
  };
  const auto choose = [&](index_t t) {
    tasks[t].split().cut = cut_by_models(
        tasks[t], cuts[t], [&](index_t i, RowMatrix& left) { left += between[t * n_most + i]; });
  };
  parallel_phases(state.execution,
                  {{n_tasks, try_cuts}, {n_tasks * n_most, sum_piece}, {n_tasks, choose}});
}

}  // namespace

Cut LocalStatistics::cut_by_constants(const GrowState& state, const CutTask& task) const {
  const OpenNode& node = *task.node;
  const SplitInfo& candidate = task.split();
  const auto best = [&](const OrderedScores& scores) {
    return best_cut(state.data, scores, state.target_mean(node), node.moments.weight,
                    cut_rules(state, node, candidate));
  };
  if (has_order() && candidate.kind == SplitKind::axis)
    return best(order_.along(candidate.index, node.begin, node.size));
  std::vector<double> own_scores;
  const double* scores = candidate_scores(state, node, candidate, own_scores);
  return best(SortedScores(scores, state.rows_of(node)).view());
}

void LocalStatistics::find_cuts(const GrowState& state, const std::vector<CutTask>& tasks) {
  if (bin_cuts_) {
    const CutsByKind kinds = cuts_by_kind(tasks);
    find_cuts_along_scores(state, kinds.others);
    bin_cuts_->find(state, kinds.axes_by_constants);
  } else {
    find_cuts_along_scores(state, tasks);
  }
}

void LocalStatistics::find_cuts_along_scores(const GrowState& state, const std::vector<CutTask>& tasks) {
  const index_t of_cut = packed_size(state.data.n_features, state.data.n_outputs);
  const auto numbers_of = [&](const CutTask& task) {
    return state.params.max_thresholds * of_cut + 2 * task.node->size;
  };
  std::vector<CutTask> in_pieces, whole;
  for (const CutTask& task : tasks) {
    const bool divided = state.execution.n_threads > 1 && numbers_of(task) <= kMostNumbers &&
                         task.search != nullptr && has_pieces(state, task);
    (divided ? in_pieces : whole).push_back(task);
  }
  parallel_for(state.execution, static_cast<index_t>(whole.size()), [&](index_t t) {
    const CutTask& task = whole[t];
    task.split().cut =
        task.search == nullptr ? cut_by_constants(state, task) : find_cut(state, task);
  });
  for (std::size_t first = 0, last = 0; first < in_pieces.size(); first = last) {
    for (index_t n = 0; last < in_pieces.size() && n + numbers_of(in_pieces[last]) <= kMostNumbers; ++last)
      n += numbers_of(in_pieces[last]);
    find_cuts_in_pieces(state, in_pieces.data() + first, static_cast<index_t>(last - first));
  }
}

}  // namespace fctree::oblique
