#include "oblique/grow.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "oblique/node_statistics.hpp"
#include "oblique/split.hpp"
#include "oblique/split_search/search.hpp"
#include "oblique/tree_writer.hpp"
#include "ridge/side_losses.hpp"

namespace fctree::oblique {

namespace {

// How many cuts along a direction are worth two models each, whose cost grows with the cube of the features.
index_t thresholds_for(index_t most, index_t n_features) {
  constexpr index_t kFewest = 4, kOfOneFeature = 1024;
  return std::min(most, std::max(kFewest, kOfOneFeature / std::max<index_t>(n_features, 1)));
}

class Grower {
 public:
  Grower(const TrainingData& data, const ObliqueParams& params, NodeStatistics& statistics,
         Execution execution, const LeftOut& left_out)
      : state_(data, params, execution, statistics, statistics.offset()), tree_(state_) {
    state_.left_out = left_out;
    state_.params.max_thresholds = thresholds_for(params.max_thresholds, data.n_features);
  }

  ObliqueTreeArrays grow() {
    open_root();
    while (!level_.empty()) {
      search_splits(state_, level_);
      split_level();
    }
    return tree_.take();
  }

 private:
  bool has_moments(const OpenNode& root) const;
  void open_root();
  index_t choose_candidate(const OpenNode& node) const;
  void keep_best(std::vector<Split>& splits) const;
  void split_level();
  void record_split(Split& split);

  GrowState state_;
  TreeWriter tree_;
  std::vector<OpenNode> level_;
};

bool Grower::has_moments(const OpenNode& root) const {
  const index_t n_features = state_.data.n_features;
  if (root.size >= n_features || !state_.params.ridge_criterion) return true;
  return state_.statistics->sum_samples(state_, root).count >= kAboutOne * static_cast<double>(n_features);
}

void Grower::open_root() {
  const TrainingData& data = state_.data;
  OpenNode root;
  root.ancestors = Matrix(data.n_features, 0);
  state_.statistics->open(state_, root);
  state_.root_has_moments = has_moments(root);
  const bool is_simple = state_.is_dual(root) || !state_.has_models();
  root.moments = is_simple ? state_.statistics->simple_moments(state_, {&root})[0]
                           : state_.statistics->full_moments(state_, {&root})[0];
  if (!root.moments.diagonal.allFinite() || !root.moments.mean.allFinite())
    throw std::invalid_argument(
        "X, y, sample_weight or the gradients of the loss are too large: a sum of their squares overflows float64");
  if (data.has_curvatures && (state_.params.judges_splits() || state_.params.parent_weight > 0.0))
    state_.mean_weight = root.moments.weight / state_.statistics->sum_samples(state_, root).count;
  state_.params.parent_weight *= state_.mean_weight;
  state_.root_sizes = feature_sizes(state_, root);
  tree_.set_scales(root);
  if (state_.params.choose_alpha && state_.has_models())
    state_.params.alpha = state_.statistics->find_alpha(state_, root);
  if (state_.needs_fit(root)) fit_node(state_, root);
  if (state_.may_split(root) && state_.params.ridge_criterion) {
    const ChildModels models = child_models(root.prior, root.moments, root.ancestors,
                                            state_.origin, state_.ridge_options());
    root.loss = node_loss(models, products_about(root.moments, models.origin - state_.origin));
  }
  tree_.open(root);
  level_.push_back(std::move(root));
}

// The candidate with the best cut, or -1 if none is worth a split.
index_t Grower::choose_candidate(const OpenNode& node) const {
  const ObliqueParams& params = state_.params;
  index_t best = -1;
  for (index_t c = 0; c < static_cast<index_t>(node.candidates.size()); ++c) {
    if (!node.candidates[c].cut.found) continue;
    const double to_beat = best < 0 ? 0.0 : node.candidates[best].cut.decrease;
    const double decrease = node.candidates[c].cut.decrease;
    const bool better = params.ridge_criterion ? is_better_by_models(decrease, to_beat, node.loss)
                                               : is_better(decrease, to_beat);
    if (better) best = c;
  }
  if (best < 0) return -1;
  // The ridge criterion's losses are sums over samples, the constant one's are means.
  const double decrease = node.candidates[best].cut.decrease;
  const double total = params.ridge_criterion ? decrease : decrease * node.moments.weight;
  const double rounding = 4.0 * std::numeric_limits<double>::epsilon();
  if (!params.ridge_criterion && decrease <= rounding * state_.variance_of(node)) return -1;
  const double gain = total * params.impurity_scale / tree_.tree().weighted_n_node_samples[0];
  return gain >= params.min_impurity_decrease ? best : -1;
}

// As many as leaves may be made: each split makes one more. Only trees of the constant criterion have such a limit.
void Grower::keep_best(std::vector<Split>& splits) const {
  const index_t taken = tree_.tree().n_leaves() + static_cast<index_t>(level_.size());
  const index_t room = state_.params.max_leaves - taken;
  if (static_cast<index_t>(splits.size()) <= room) return;
  const auto total = [](const Split& split) { return split.cut().decrease * split.node->moments.weight; };
  std::stable_sort(splits.begin(), splits.end(),
                   [&](const Split& a, const Split& b) { return total(a) > total(b); });
  splits.resize(room);
  std::sort(splits.begin(), splits.end(), [](const Split& a, const Split& b) { return a.node < b.node; });
}

void Grower::split_level() {
  std::vector<Split> splits;
  for (OpenNode& node : level_) {
    const index_t chosen = choose_candidate(node);
    if (chosen >= 0) splits.push_back({&node, chosen, {}});
  }
  keep_best(splits);
  carry_out(state_, splits);
  std::vector<OpenNode> next;
  auto split = splits.begin();
  for (const OpenNode& node : level_) {
    const bool is_split = split != splits.end() && split->node == &node;
    if (is_split && split->accepted) {
      record_split(*split);
      for (OpenNode& child : split->children) next.push_back(std::move(child));
    } else {
      tree_.close(node);
    }
    if (is_split) ++split;
  }
  level_ = std::move(next);
}

void Grower::record_split(Split& split) {
  const OpenNode& node = *split.node;
  const SplitInfo& info = split.info();
  WrittenSplit written = {info.kind, direction_of(state_, node, info), info.cut.threshold};
  if (info.kind == SplitKind::ridge && !state_.has_principal_directions()) {
    written.output = info.index;
    written.intercept = state_.ridge_intercepts(node)[info.index];
  }
  tree_.split(node, written, split.children[0], split.children[1]);
}

// Of a level, in multiply-adds: each candidate's scores are found and ordered, and by the ridge
// criterion the products of its rows are summed.
double level_work(const TrainingData& data, const ObliqueParams& params) {
  constexpr double kPerScore = 200.0;
  const index_t n_axes = params.ridge_criterion ? params.n_screened : params.node_features.max_features;
  index_t n_candidates = searches_oblique(params) ? data.n_outputs + params.n_curvature : 0;
  if (searches(params, SplitKind::axis)) n_candidates += std::min(data.n_features, n_axes);
  const double ordered = kPerScore * static_cast<double>(data.n_samples * n_candidates);
  const double n_sums = params.ridge_criterion ? static_cast<double>(1 + n_candidates) : 1.0;
  return ordered + n_sums * moment_work(data);
}

}  // namespace

ObliqueTreeArrays grow_tree(const TrainingData& data, const ObliqueParams& params, NodeStatistics& statistics,
                            const Execution& team, const LeftOut& left_out) {
  const Execution growing = limit_threads(team, level_work(data, params));
  return Grower(data, params, statistics, growing, left_out).grow();
}

}  // namespace fctree::oblique
