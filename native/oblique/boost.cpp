#include "oblique/boost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/patience.hpp"
#include "core/rng.hpp"
#include "oblique/feature_draw.hpp"
#include "oblique/grow.hpp"
#include "oblique/leaf_revision.hpp"
#include "oblique/predict.hpp"
#include "oblique/row_sample.hpp"
#include "oblique/working_response.hpp"

namespace fctree {

namespace {

constexpr index_t kTaskRows = 4096;  // rows of a task; sums go tile by tile

// Samples and their scores F as the model grows.
class BoostedSet {
 public:
  BoostedSet(const BoostedSamples& samples, const ObliqueBoostingTask& task)
      : samples_(samples), n_features_(task.n_features), n_outputs_(task.n_outputs),
        raw_(task.n_outputs * samples.n_samples),
        total_weight_(static_cast<double>(samples.n_samples)) {
    if (samples.weight != nullptr)
      total_weight_ = std::accumulate(samples.weight, samples.weight + n(), 0.0);
  }

  index_t n() const { return samples_.n_samples; }
  const double* x() const { return samples_.x; }
  const double* weight() const { return samples_.weight; }
  ScoredSamples view() const {
    return {samples_.y, raw_.data(), samples_.weight, n(), n_outputs_};
  }

  void start(const std::vector<double>& baseline) {
    for (index_t k = 0; k < n_outputs_; ++k)
      for (index_t i = 0; i < n(); ++i)
        raw_[k * n() + i] =
            samples_.initial == nullptr ? baseline[k] : samples_.initial[k * n() + i];
  }

  void add(const ObliqueTreesView& trees, index_t first, index_t last, const Execution& execution) {
    add_trees(trees, first, last, samples_.x, n(), {raw_.data(), 1, n()}, execution);
  }

  // The mean loss, and the derivatives if wanted.
  double evaluate(const Loss& loss, const Derivatives* out, const Execution& execution) const {
    const index_t n_tiles = (n() + kTaskRows - 1) / kTaskRows;
    std::vector<double> sums(n_tiles);
    parallel_for(execution, n_tiles, [&](index_t tile) {
      sums[tile] = loss.evaluate(view(), tile * kTaskRows,
                                 std::min(n(), (tile + 1) * kTaskRows), out);
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0) / total_weight_;
  }

 private:
  BoostedSamples samples_;
  index_t n_features_;
  index_t n_outputs_;
  std::vector<double> raw_;
  double total_weight_;
};

// A tree of a kind, with the leaf that each row reaches.
struct Contender {
  ObliqueTreeArrays tree;
  std::vector<index_t> leaf;
  LeafBounds bounds;
};

class ObliqueBooster {
 public:
  ObliqueBooster(const ObliqueBoostingTask& task, const std::vector<ObliqueParams>& kinds,
                 const ObliqueBoostingParams& params, const Execution& execution)
      : task_(task), kinds_(kinds), params_(params), execution_(execution),
        loss_(make_loss(task.loss, task.quantile)), train_(task.train, task),
        map_(find_feature_map(task.train.x, task.train.weight, task.train.n_samples,
                              task.n_features, params.standardize)),
        gradient_(task.n_outputs * train_.n()),
        hessian_(loss_->has_hessian() ? task.n_outputs * train_.n() : 0),
        rows_(task.train.x, task.train.y, train_.n(), task.n_features, task.n_targets,
              params.seed) {
    if (task.eval != nullptr) eval_ = std::make_unique<BoostedSet>(*task.eval, task);
    result_.trees.n_features = task.n_features;
    result_.trees.n_outputs = task.n_outputs;
    result_.alpha = kinds[0].alpha;
  }

  ObliqueBoostingResult run(const TreeListener& listener) {
    start();
    for (index_t round = 0; round < params_.max_iter; ++round) {
      const index_t iteration = task_.first_iteration + round;
      sample_rows(iteration);
      find_working_response(*loss_, train_.view(), derivatives(), in_bag(), response_, execution_);
      add_tree(iteration);
      evaluate();
      const double eval_loss = eval_ ? result_.eval_loss.back() : std::nan("");
      const bool goes_on =
          listener.told(listener.context, iteration, result_.train_loss.back(), eval_loss);
      if (stops_early(round + 1) || !goes_on) break;
    }
    if (!params_.early_stopping) result_.best_iteration = result_.trees.n_trees();
    result_.trees.truncate(result_.best_iteration);
    return std::move(result_);
  }

 private:
  const std::uint8_t* in_bag() const { return in_bag_.empty() ? nullptr : in_bag_.data(); }
  Derivatives derivatives() {
    return {gradient_.data(), hessian_.empty() ? nullptr : hessian_.data()};
  }
  void start();
  void evaluate();
  void sample_rows(index_t iteration);
  void map_rows(index_t iteration);
  Contender grow_kind(index_t kind);
  double left_out_loss(const Contender& contender) const;
  void add_tree(index_t iteration);
  double stopping_loss() const {
    return eval_ ? result_.eval_loss.back() : result_.train_loss.back();
  }
  bool stops_early(index_t n_rounds);

  const ObliqueBoostingTask& task_;
  std::vector<ObliqueParams> kinds_;
  const ObliqueBoostingParams& params_;
  const Execution& execution_;
  std::unique_ptr<Loss> loss_;
  BoostedSet train_;
  std::unique_ptr<BoostedSet> eval_;
  FeatureMap map_;              // to the features of the round's trees
  std::vector<double> mapped_;  // those of all rows
  std::vector<double> gradient_;
  std::vector<double> hessian_;
  RowSampler rows_;
  std::vector<std::uint8_t> in_bag_;  // empty: all
  WorkingResponse response_;
  Patience patience_;
  ObliqueBoostingResult result_;
};

void ObliqueBooster::start() {
  result_.baseline.assign(task_.n_outputs, 0.0);
  if (task_.baseline != nullptr)
    result_.baseline.assign(task_.baseline, task_.baseline + task_.n_outputs);
  else if (task_.train.initial == nullptr)
    loss_->baseline(train_.view(), result_.baseline.data());
  for (BoostedSet* set : {&train_, eval_.get()}) {
    if (set == nullptr) continue;
    set->start(result_.baseline);
    if (task_.continued != nullptr)
      set->add(*task_.continued, 0, task_.first_iteration, execution_);
  }
  evaluate();
  // Also where a model is continued: its earlier losses may be of other samples.
  patience_.start(stopping_loss());
}

// Losses of the model as it is, and the derivatives for the next round.
void ObliqueBooster::evaluate() {
  loss_->prepare(train_.view());
  const Derivatives out = derivatives();
  result_.train_loss.push_back(train_.evaluate(*loss_, &out, execution_));
  if (!std::isfinite(result_.train_loss.back()))
    throw std::invalid_argument(
        "the training loss is not finite after " +
        std::to_string(task_.first_iteration + result_.trees.n_trees()) +
        " rounds: the targets, init_score or learning_rate are too large");
  if (eval_) result_.eval_loss.push_back(eval_->evaluate(*loss_, nullptr, execution_));
}

void ObliqueBooster::sample_rows(index_t iteration) {
  if (params_.subsample < 1.0 && rows_.may_draw())
    rows_.draw_part(iteration, params_.subsample, in_bag_);
}

Contender ObliqueBooster::grow_kind(index_t kind) {
  const double* x = mapped_.data();
  const index_t width = map_.width();
  const TrainingData data = {x, response_.target.data(), response_.weight.data(), train_.n(),
                             width, task_.n_outputs};
  Contender grown;
  grown.tree = grow_tree_on_team(data, kinds_[kind], execution_);
  if (kinds_[kind].choose_alpha) {
    kinds_[kind].choose_alpha = false;
    kinds_[kind].alpha = grown.tree.alpha;
  }
  grown.leaf.resize(train_.n());
  apply_tree({grown.tree.children_left.data(), grown.tree.children_right.data(),
              grown.tree.threshold.data(), grown.tree.coef.data(), width},
             x, train_.n(), grown.leaf.data(), execution_);
  if (params_.l2_leaf_reg > 0.0) shrink_leaves(params_.l2_leaf_reg, grown.tree);
  revise_constants(*loss_, train_.view(), x, response_.weight.data(), grown.leaf, grown.tree);
  grown.bounds = bound_leaves(grown.tree, x, response_.weight.data(), grown.leaf,
                              {params_.extrapolation, largest_step(*loss_)});
  return grown;
}

// The loss on the rows that the tree was not grown on, with its step taken.
double ObliqueBooster::left_out_loss(const Contender& contender) const {
  const index_t n = train_.n();
  const ScoredSamples view = train_.view();
  std::vector<double> raw(view.raw, view.raw + task_.n_outputs * n);
  ObliqueTreesArrays one;
  one.n_features = task_.n_features;
  one.n_outputs = task_.n_outputs;
  append_tree(contender.tree, contender.bounds, map_, params_.learning_rate, one);
  add_trees(view_of(one), 0, 1, train_.x(), n, {raw.data(), 1, n}, execution_);
  ScoredSamples moved = view;
  moved.raw = raw.data();
  double sum = 0.0;
  for (index_t i = 0; i < n; ++i)
    if (in_bag_[i] == 0) sum += loss_->evaluate(moved, i, i + 1, nullptr);
  return sum;
}

void ObliqueBooster::map_rows(index_t iteration) {
  std::vector<index_t> columns =
      draw_columns(params_.seed, iteration, params_.colsample, task_.n_features);
  if (!mapped_.empty() && columns == map_.columns) return;
  map_.columns = std::move(columns);
  mapped_.resize(train_.n() * map_.width());
  map_features(map_, train_.x(), train_.n(), task_.n_features, mapped_.data(), execution_);
}

void ObliqueBooster::add_tree(index_t iteration) {
  map_rows(iteration);
  Contender chosen = grow_kind(0);
  index_t kind = 0;
  double least = 0.0;
  for (index_t other = 1; other < static_cast<index_t>(kinds_.size()); ++other) {
    if (in_bag_.empty()) break;  // nothing to compare them on
    if (other == 1) least = left_out_loss(chosen);
    Contender contender = grow_kind(other);
    const double loss = left_out_loss(contender);
    if (!(loss < least)) continue;
    least = loss;
    kind = other;
    chosen = std::move(contender);
  }
  result_.alpha = kinds_[0].alpha;
  result_.kind.push_back(kind);
  ObliqueTreesArrays& trees = result_.trees;
  append_tree(chosen.tree, chosen.bounds, map_, params_.learning_rate, trees);
  const index_t last = trees.n_trees();
  train_.add(view_of(trees), last - 1, last, execution_);
  if (eval_) eval_->add(view_of(trees), last - 1, last, execution_);
}

bool ObliqueBooster::stops_early(index_t n_rounds) {
  if (!params_.early_stopping) return false;
  if (patience_.take(n_rounds, stopping_loss(), params_.tol)) result_.best_iteration = n_rounds;
  return patience_.rounds_waited(n_rounds) >= params_.n_iter_no_change;
}

}  // namespace

ObliqueBoostingResult boost_oblique(const ObliqueBoostingTask& task,
                                    const std::vector<ObliqueParams>& kinds,
                                    const ObliqueBoostingParams& params,
                                    const TreeListener& listener, const Execution& execution) {
  ObliqueBoostingResult result;
  with_team(execution, [&](const Execution& team) {
    result = ObliqueBooster(task, kinds, params, team).run(listener);
  });
  return result;
}

}  // namespace fctree
