#include "ensembles/boost.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ensembles/leaf_values.hpp"
#include "ensembles/learning_rate.hpp"
#include "ensembles/left_out_steps.hpp"
#include "ensembles/local_boosting_statistics.hpp"
#include "ensembles/row_sample.hpp"
#include "ensembles/sampled_search.hpp"
#include "ensembles/step_gains.hpp"
#include "ensembles/tree_features.hpp"
#include "ensembles/tree_sum.hpp"
#include "ensembles/turns.hpp"
#include "ensembles/working_response.hpp"
#include "oblique/relevant_features.hpp"

namespace fctree::ensembles {

namespace {

// Different samples that have to be left out for kinds of trees to be compared on them.
constexpr index_t kFewestLeftOut = 12;
// From here on growing each kind in each round gains nothing: some 300, which share hashes.
constexpr index_t kFewestForTurns = 176;

// Of the features, that a step tree may split on: one that lacks the best finds others, and trees should not be all alike.
constexpr double kShareOfSteps = 0.8;

// A tree of a kind.
struct Contender {
  const TreeFeatures* features;
  ObliqueTreeArrays tree;
  LeafBounds bounds;
};

class ObliqueBooster : public GrowingModel {
 public:
  ObliqueBooster(const ObliqueBoostingTask& task, const std::vector<ObliqueParams>& kinds,
                 const ObliqueBoostingParams& params, const Execution& execution)
      : task_(task), kinds_(kinds), params_(params), execution_(execution),
        local_(static_cast<index_t>(kinds.size())),
        statistics_(task.statistics == nullptr ? local_ : *task.statistics),
        loss_(make_loss(task.loss, task.sizes.n_outputs)),
        units_(find_units(*loss_, targets(task), execution)),
        sizes_{task.sizes.n_features, task.sizes.n_targets, task.sizes.n_outputs, units_.of_several()},
        train_(task.train, sizes_, execution),
        varying_(varying_columns(task.train.x, task.train.weight, task.train.n_samples, execution.all)),
        features_(statistics_.find_map(task.train, varying_, kinds[0], execution), train_.x(), train_.n(), execution),
        gradient_(task.sizes.n_outputs * train_.n()),
        hessian_(loss_->has_hessian() ? task.sizes.n_outputs * train_.n() : 0),
        rows_(task.train,
              {varying_, task.sizes.n_targets, drawn_units(task, execution).all(), params.rounds_features, params.seed,
               units_.all() == nullptr ? nullptr : task.train.initial},  // shifts of both targets and scores are none
              execution),
        rate_(params.learning_rate, *loss_),
        steps_(task.sizes.n_outputs),
        turns_({true, kinds.size() > kSteps, may_leave_residuals()}) {
    evals_.reserve(task.evals.size());
    for (const BoostedSamples& eval : task.evals) evals_.emplace_back(eval, sizes_, execution_);
    result_.trees.n_features = task.sizes.n_features;
    result_.trees.n_outputs = task.sizes.n_outputs;
    result_.alpha = kinds[0].alpha;
    for (const GrownRound& round : task.past) {
      rate_.judge(&round - task.past.data(), steps_.sums());
      steps_.recall(round.steps);
      turns_.keep(round.kind);
    }
    const index_t fewest = loss_->fewest_in_leaf(targets(task), execution);
    for (ObliqueParams& kind : kinds_) {
      kind.target_unit *= units_.of_single();
      if (&kind != &kinds_.front()) kind.min_samples_leaf = std::max(kind.min_samples_leaf, fewest);
    }
    if (draws_rows()) subsample_ = rows_.part_of(params.subsample, execution.all);
  }

  ObliqueBoostingResult run(const RoundListener& listener) {
    start();
    const RoundPlan plan = {task_.first_iteration(),   params_.max_iter,         0,
                            params_.early_stopping, params_.n_iter_no_change, params_.tol,
                            units_.of_stopping(*loss_), task_.past_losses};
    result_.history = run_rounds(*this, plan, listener, execution_.all);
    result_.trees.truncate(std::max<index_t>(result_.history.best_iteration, 0));
    return std::move(result_);
  }

  void grow_round(index_t iteration) override;
  RoundLosses evaluate() override;

 private:
  static ScoredSamples targets(const ObliqueBoostingTask& task) {
    return {task.train.y, nullptr, task.train.weight, task.train.n_samples, task.sizes.n_outputs};
  }
  // Of the targets that rows are drawn by: those of a loss with a log link have none else.
  TargetUnits drawn_units(const ObliqueBoostingTask& task, const Execution& execution) const {
    return loss_->balances() ? TargetUnits{find_deviations(targets(task), execution)} : units_;
  }
  const std::uint8_t* in_bag() const { return in_bag_.empty() ? nullptr : in_bag_.data(); }
  Derivatives derivatives() {
    return {gradient_.data(), hessian_.empty() ? nullptr : hessian_.data()};
  }
  void start();
  void add_continued(BoostedSet& set) const;
  void sample_rows(index_t iteration);
  bool draws_rows() const { return params_.subsample < 1.0; }
  bool may_leave_residuals() const;
  bool needs_index() const;
  double colsample(index_t iteration) const;
  void set_features();
  TrainingData data_of(const TreeFeatures& features) const;
  TrainingData counted(TrainingData data);
  TrainingData fitted_data(const TreeFeatures& features, const ObliqueParams& params);
  const TreeFeatures& features_of(index_t kind);
  std::vector<index_t> kinds_of_round(index_t n_left_out);
  RoundTree grow_residual_tree();
  RoundTree grow_tree(index_t kind, const TreeFeatures& features, index_t iteration);
  Contender grow_kind(index_t kind, index_t iteration);
  // Of outer quantiles too few rows left out say how far steps hold.
  bool takes_share() const { return loss_->leaf_rule() != LeafRule::quantile || loss_->quantile_order() == 0.5; }
  ObliqueTreesArrays alone(const Contender& contender, double rate) const;
  StepSums left_out_step(const ObliqueTreesArrays& tree);
  void add_step(index_t kind, const Contender& contender, const StepSums& step);
  void add_tree(index_t iteration);

  const ObliqueBoostingTask& task_;
  std::vector<ObliqueParams> kinds_;
  const ObliqueBoostingParams& params_;
  const Execution& execution_;
  LocalBoostingStatistics local_;
  BoostingStatistics& statistics_;
  std::unique_ptr<Loss> loss_;
  const TargetUnits units_;
  BoostedSizes sizes_;
  BoostedSet train_;
  std::vector<BoostedSet> evals_;
  const std::vector<index_t> varying_;  // columns
  RoundFeatures features_;
  const TreeFeatures* curved_ = nullptr;  // of the round's curvature tree
  std::vector<double> counts_;  // ones, once they have been asked for: rows without weights are a sample each
  std::vector<double> gradient_;
  std::vector<double> hessian_;
  RowSampler rows_;
  double subsample_ = 1.0;
  LearningRate rate_;
  std::vector<std::uint8_t> in_bag_;  // empty: all
  WorkingResponse response_;
  SearchedRows searched_;
  LeftOutSteps steps_;
  Turns turns_;
  ObliqueBoostingResult result_;
};

void ObliqueBooster::start() {
  result_.baseline = find_baseline(task_.baseline, task_.train.initial, train_.view(), execution_, *loss_);
  for (BoostedSet& eval : evals_) {
    eval.start(result_.baseline);
    add_continued(eval);
  }
  train_.start(result_.baseline);
  add_continued(train_);
  features_.start(statistics_.reads_features(train_.n(), features_.all().map.width()));
  set_features();
  if (needs_index()) statistics_.index_features(data_of(features_.all()), features_.all().map, execution_);
}

void ObliqueBooster::add_continued(BoostedSet& set) const {
  if (task_.continued != nullptr) set.add(*task_.continued, 0, task_.first_iteration(), execution_);
}

void ObliqueBooster::grow_round(index_t iteration) {
  rate_.judge(iteration, steps_.sums());
  sample_rows(iteration);
  find_working_response(*loss_, train_.view(), derivatives(), in_bag(), response_, execution_);
  add_tree(iteration);
}

RoundLosses ObliqueBooster::evaluate() {
  loss_->prepare(train_.view());
  loss_->find_centres(train_.view(), execution_);
  const Derivatives out = derivatives();
  RoundLosses losses;
  losses.has_value = loss_->has_value();
  losses.train = statistics_.evaluate(train_, *loss_, &out, execution_);
  for (const BoostedSet& eval : evals_)
    losses.evals.push_back({statistics_.evaluate(eval, *loss_, nullptr, execution_), eval.view().raw});
  return losses;
}

void ObliqueBooster::sample_rows(index_t iteration) {
  if (!draws_rows()) return;
  rows_.draw_part(iteration, subsample_, execution_, in_bag_);
  // Where all rows were drawn nothing is left to judge kinds of trees by.
  const index_t n_left_out = std::count(in_bag_.begin(), in_bag_.end(), 0);
  if (add_up(execution_.all, n_left_out) == 0) in_bag_.clear();
}

// Of all features: a linear model, and a tree of those that matter for what it leaves, as one.
RoundTree ObliqueBooster::grow_residual_tree() {
  ObliqueParams params = kinds_[kCurvature];
  params.max_depth = 0;
  const TreeFeatures& all = features_.all();
  const TrainingData data = fitted_data(all, params);
  RoundTree grown = grow_round_tree(data, kCurvature, params, searched_, statistics_, execution_);
  const std::vector<double> targets = response_.target;
  subtract_scores(grown.arrays, data, grown.leaf, execution_, response_.target.data());
  const TreeFeatures& few = features_of(kCurvature);
  if (features_.is_few(few)) {
    RoundTree tree = grow_round_tree(fitted_data(few, params), kCurvature, kinds_[kCurvature], searched_, statistics_,
                                     execution_);
    const std::vector<index_t> places = places_of(few.map.columns, all.map.columns);
    grown = {sum_of(grown.arrays, std::move(tree.arrays), places), std::move(tree.leaf)};
  }
  std::copy(targets.begin(), targets.end(), response_.target.begin());
  find_means(fitted_data(all, params), grown.leaf, execution_, grown.arrays);
  return grown;
}

RoundTree ObliqueBooster::grow_tree(index_t kind, const TreeFeatures& features, index_t iteration) {
  if (kind == kResidual) return grow_residual_tree();
  if (kind == kSteps) {
    const double n_wanted = std::ceil(kShareOfSteps * static_cast<double>(features.map.width()));
    kinds_[kind].node_features = {static_cast<index_t>(n_wanted), params_.seed, iteration, true};
  }
  return grow_round_tree(fitted_data(features, kinds_[kind]), kind, kinds_[kind], searched_, statistics_, execution_);
}

Contender ObliqueBooster::grow_kind(index_t kind, index_t iteration) {
  Contender grown;
  grown.features = kind == kSteps ? &features_of(kind) : kind == kCurvature ? curved_ : &features_.all();
  auto [tree, leaf] = grow_tree(kind, *grown.features, iteration);
  const TrainingData data = data_of(*grown.features);
  grown.tree = std::move(tree);
  if (kind == kCurvature && kinds_[kind].choose_alpha) {
    kinds_[kind].choose_alpha = false;
    kinds_[kind].alpha = grown.tree.alpha;
  }
  if (loss_->leaf_rule() != LeafRule::newton)
    revise_constants(*loss_, {train_.view(), data, leaf, response_.farthest}, params_.l2_leaf_reg, execution_, grown.tree);
  else if (params_.l2_leaf_reg > 0.0)
    shrink_leaves(params_.l2_leaf_reg, grown.tree);
  if (!hessian_.empty())
    lengthen_steps({train_.view(), response_.weight.data(), hessian_.data()}, params_.l2_leaf_reg, leaf, execution_, grown.tree);
  grown.bounds = bound_leaves(grown.tree, data, leaf,
                              {params_.extrapolation, loss_->largest_step()}, execution_);
  if (sizes_.unit != nullptr) scale_outputs(sizes_.unit, grown.tree, grown.bounds);
  return grown;
}

ObliqueTreesArrays ObliqueBooster::alone(const Contender& contender, double rate) const {
  return tree_alone(contender.tree, contender.bounds, contender.features->map, rate, task_.sizes.n_features);
}

// What the tree's step does on the rows that it was not grown on.
StepSums ObliqueBooster::left_out_step(const ObliqueTreesArrays& tree) {
  return statistics_.left_out_step(train_, *loss_, {tree, in_bag_, derivatives()}, execution_);
}

void ObliqueBooster::add_step(index_t kind, const Contender& contender, const StepSums& step) {
  if (loss_->leaf_rule() == LeafRule::newton) return steps_.add(kind, step, rate_.value());
  const LossSum before = statistics_.evaluate_left_out(train_, *loss_, in_bag_, execution_);
  steps_.add_full(kind, left_out_step(alone(contender, 1.0)), before.loss.scaled);
}

double ObliqueBooster::colsample(index_t iteration) const {
  const bool halves = params_.halved_from > 0 && features_.n_columns() >= params_.halved_from;
  return halves && params_.colsample == 1.0 && iteration % 2 == 1 ? 0.5 : params_.colsample;
}

// Of the trees to come, of each kind.
void ObliqueBooster::set_features() {
  for (index_t kind = 0; kind < static_cast<index_t>(kinds_.size()); ++kind)
    statistics_.set_features(kind, features_.all().map, execution_);
}

TrainingData ObliqueBooster::data_of(const TreeFeatures& features) const {
  TrainingData data = {nullptr,    response_.target.data(), response_.weight.data(),
                       train_.n(), features.map.width(),    task_.sizes.n_outputs};
  data.groups = task_.groups;
  data.columns = features.map.columns.data();
  if (features.is_kept)
    data.x = features.x.data();
  else
    data.features = &features.reader;
  return data;
}

TrainingData ObliqueBooster::counted(TrainingData data) {
  if (task_.train.weight == nullptr) counts_.resize(train_.n(), 1.0);
  data.count = counts_.empty() ? task_.train.weight : counts_.data();
  return data;
}

TrainingData ObliqueBooster::fitted_data(const TreeFeatures& features, const ObliqueParams& params) {
  TrainingData data = data_of(features);
  data.has_curvatures = !hessian_.empty();
  return data.has_curvatures || params.choose_alpha ? counted(data) : data;
}

// All of the round, or few of many for a tree with linear models: these are a sparser, faster one.
const TreeFeatures& ObliqueBooster::features_of(index_t kind) {
  const ObliqueParams& params = kinds_[kind];
  const TreeFeatures& all = features_.all();
  std::vector<index_t> places;
  if (may_take_few(data_of(all), params)) {
    statistics_.set_features(kind, all.map, execution_);
    places = statistics_.relevant_features(searched_.of(counted(data_of(all))), kind, searched_.of(params), execution_);
  }
  const bool again = !takes_only_axes(params) && !searched_.is_sample_for(params);
  if (places.empty()) return features_.take_all(again);
  const TreeFeatures& few = features_.take_few(std::move(places), again);
  statistics_.set_features(kind, few.map, execution_);
  return few;
}

// Step trees are grown only where left-out rows can judge them.
bool ObliqueBooster::needs_index() const {
  const std::size_t n_grown = draws_rows() ? kinds_.size() : 1;
  return std::any_of(kinds_.begin(), kinds_.begin() + n_grown, sorts_axes);
}

// Whether trees may take few features while a linear model of all predicts better.
bool ObliqueBooster::may_leave_residuals() const {
  ObliqueParams params = kinds_[kCurvature];
  params.choose_alpha = false;  // after the first round
  return params.ridge_leaves && params.ridge_criterion && may_take_few(data_of(features_.all()), params);
}

// A linear model of all features leaves residuals where a curvature tree would take all. The first kind alone where nothing
// judges between them.
std::vector<index_t> ObliqueBooster::kinds_of_round(index_t n_left_out) {
  const auto takes_part = [&](index_t kind) {
    if (n_left_out < kFewestLeftOut) return kind == kCurvature;
    return n_left_out < kFewestForTurns ? turns_.has(kind) : turns_.takes_part(kind);
  };
  std::vector<index_t> kinds;
  const bool curved = takes_part(kCurvature), residual = takes_part(kResidual);
  if (curved || residual) {
    curved_ = &features_of(kCurvature);
    const bool takes_all = !features_.is_few(*curved_) && may_take_few(data_of(*curved_), kinds_[kCurvature]);
    if (curved || !takes_all) kinds.push_back(kCurvature);
    if (residual && takes_all) kinds.push_back(kResidual);
  }
  if (takes_part(kSteps)) kinds.push_back(kSteps);
  return kinds;
}

void ObliqueBooster::add_tree(index_t iteration) {
  if (features_.draw(params_.seed, iteration, colsample(iteration))) set_features();
  if (kinds_[0].ridge_criterion && !kinds_[0].choose_alpha)
    searched_.draw(data_of(features_.all()), rows_, iteration, subsample_, execution_);
  const bool compares = (kinds_.size() > 1 || takes_share()) && !in_bag_.empty();
  const index_t n_left_out = compares ? rows_.count_left_out(in_bag_, execution_.all) : 0;
  const std::vector<index_t> kinds = kinds_of_round(n_left_out);
  std::optional<StepGains> of_steps;
  if (kinds.size() > 1) of_steps.emplace(train_, *loss_, in_bag_, statistics_, execution_);
  std::vector<Contender> contenders;
  std::vector<StepGain> gains;
  for (const index_t kind : kinds) {
    contenders.push_back(grow_kind(kind, iteration));
    if (n_left_out < kFewestLeftOut) continue;
    const ObliqueTreesArrays tree = alone(contenders.back(), rate_.value());
    const StepSums step = left_out_step(tree);
    if (takes_share()) add_step(kind, contenders.back(), step);
    if (of_steps) gains.push_back(of_steps->of(tree, step, derivatives()));
  }
  const index_t best = best_of(gains);
  Contender& chosen = contenders[best];
  const GrownRound round = {kinds[best], rate_.value(), steps_.sums()};
  turns_.keep(round.kind);
  result_.rounds.push_back(round);
  result_.alpha = kinds_[0].alpha;
  ObliqueTreesArrays& trees = result_.trees;
  scale_outputs(steps_.shares(round.kind).data(), chosen.tree, chosen.bounds);
  append_tree(chosen.tree, chosen.bounds, chosen.features->map, round.rate, trees);
  const index_t last = trees.n_trees();
  if (loss_->balances()) {  // by leaves, not scores: these have the bits of predictions
    BoostedSet stepped = train_.copy(execution_);
    stepped.add(view_of(trees), last - 1, last, execution_);
    shift_last_tree(loss_->find_shifts(stepped.view(), execution_), trees);
  }
  train_.add(view_of(trees), last - 1, last, execution_);
  for (BoostedSet& eval : evals_) eval.add(view_of(trees), last - 1, last, execution_);
}

}  // namespace

ObliqueBoostingResult boost_oblique(const ObliqueBoostingTask& task,
                                    const std::vector<ObliqueParams>& kinds,
                                    const ObliqueBoostingParams& params,
                                    const RoundListener& listener, const Execution& execution) {
  ObliqueBoostingResult result;
  with_team(execution, [&](const Execution& team) {
    result = ObliqueBooster(task, kinds, params, team).run(listener);
  });
  return result;
}

}  // namespace fctree::ensembles
