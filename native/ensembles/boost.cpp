#include "ensembles/boost.hpp"

#include <algorithm>
#include <optional>

#include "ensembles/contenders.hpp"
#include "ensembles/learning_rate.hpp"
#include "ensembles/left_out_steps.hpp"
#include "ensembles/local_boosting_statistics.hpp"
#include "ensembles/row_sample.hpp"
#include "ensembles/step_gains.hpp"

namespace fctree::ensembles {

namespace {

// Different samples that have to be left out for kinds of trees to be compared on them.
constexpr index_t kFewestLeftOut = 12;
// From here on growing each kind in each round gains nothing: some 300, which share hashes.
constexpr index_t kFewestForTurns = 176;

class ObliqueBooster : public GrowingModel {
 public:
  ObliqueBooster(const ObliqueBoostingTask& task, const std::vector<ObliqueParams>& kinds,
                 const ObliqueBoostingParams& params, const Execution& execution)
      : task_(task), params_(params), execution_(execution),
        local_(static_cast<index_t>(kinds.size())),
        statistics_(task.statistics == nullptr ? local_ : *task.statistics),
        loss_(make_loss(task.loss, task.sizes.n_outputs)),
        units_(find_units(*loss_, targets(task), execution)),
        sizes_{task.sizes.n_features, task.sizes.n_targets, task.sizes.n_outputs, units_.of_several()},
        train_(task.train, sizes_, execution),
        varying_(varying_columns(task.train.x, task.train.weight, task.train.n_samples, execution)),
        contenders_{{params_, *loss_, train_, task.groups, statistics_, execution_},  // braces: all places agree in this order
                    in_units(kinds),
                    find_feature_map({task.train.x, task.train.weight, task.train.n_samples, task.train.blocks}, varying_,
                                     {kinds[0].fit_intercept, kinds[0].standardize}, execution)},
        gradient_(task.sizes.n_outputs * train_.n()),
        hessian_(loss_->has_hessian() ? task.sizes.n_outputs * train_.n() : 0),
        rows_(task.train,
              {varying_, task.sizes.n_targets, drawn_units(task, execution).all(), params.rounds_features, params.seed,
               units_.all() == nullptr ? nullptr : task.train.initial},  // shifts of both targets and scores are none
              execution),
        rate_(params.learning_rate, add_up(execution.all, train_.n()), *loss_),
        steps_(task.sizes.n_outputs),
        turns_({true, kinds.size() > kSteps, contenders_.may_leave_residuals(), contenders_.may_take_few_steps(),
                params.linear_competes}) {
    evals_.reserve(task.evals.size());
    for (const BoostedSamples& eval : task.evals) evals_.emplace_back(eval, sizes_, execution_);
    result_.trees.n_features = task.sizes.n_features;
    result_.trees.n_outputs = task.sizes.n_outputs;
    result_.alpha = contenders_.alpha();
    for (const GrownRound& round : task.past) {
      rate_.judge(&round - task.past.data(), steps_.sums());
      steps_.recall(round.steps);
      turns_.keep(round.kind);
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
  // The parameters, of targets in the units of the loss.
  std::vector<ObliqueParams> in_units(std::vector<ObliqueParams> kinds) const {
    for (ObliqueParams& kind : kinds) kind.target_unit *= units_.of_single();
    return kinds;
  }
  const std::uint8_t* in_bag() const { return in_bag_.empty() ? nullptr : in_bag_.data(); }
  Derivatives derivatives() {
    return {gradient_.data(), hessian_.empty() ? nullptr : hessian_.data()};
  }
  void start();
  void add_continued(BoostedSet& set) const;
  void sample_rows(index_t iteration);
  bool draws_rows() const { return params_.subsample < 1.0; }
  bool takes_part(index_t kind, index_t n_left_out) const;
  // Of outer quantiles too few rows left out say how far steps hold.
  bool takes_share() const { return loss_->leaf_rule() != LeafRule::quantile || loss_->quantile_order() == 0.5; }
  ObliqueTreesArrays alone(const Contender& contender, double rate) const;
  StepSums left_out_step(const ObliqueTreesArrays& tree);
  void add_step(const Contender& contender, const StepSums& step);
  Contender choose_tree();
  void add_tree(Contender chosen);

  const ObliqueBoostingTask& task_;
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
  Contenders contenders_;
  std::vector<double> gradient_;
  std::vector<double> hessian_;
  RowSampler rows_;
  double subsample_ = 1.0;
  LearningRate rate_;
  std::vector<std::uint8_t> in_bag_;  // empty: all
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
  contenders_.start();
}

void ObliqueBooster::add_continued(BoostedSet& set) const {
  if (task_.continued != nullptr) set.add(*task_.continued, 0, task_.first_iteration(), execution_);
}

void ObliqueBooster::grow_round(index_t iteration) {
  rate_.judge(iteration, steps_.sums());
  sample_rows(iteration);
  contenders_.open_round({iteration, derivatives(), in_bag(), subsample_}, rows_);
  add_tree(choose_tree());
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
  // Where all rows were drawn nothing is left to judge kinds of trees by.
  if (rows_.draw_part(iteration, subsample_, execution_, in_bag_) == 0) in_bag_.clear();
}

ObliqueTreesArrays ObliqueBooster::alone(const Contender& contender, double rate) const {
  return tree_alone(contender.tree, contender.bounds, contender.features->map, rate, task_.sizes.n_features);
}

// The effect of the tree's step on the rows that it was not grown on.
StepSums ObliqueBooster::left_out_step(const ObliqueTreesArrays& tree) {
  return statistics_.left_out_step(train_, *loss_, {tree, in_bag_, derivatives()}, execution_);
}

void ObliqueBooster::add_step(const Contender& contender, const StepSums& step) {
  if (loss_->leaf_rule() == LeafRule::newton) return steps_.add(contender.kind, step, rate_.value());
  const LossSum before = statistics_.evaluate_left_out(train_, *loss_, in_bag_, execution_);
  steps_.add_full(contender.kind, left_out_step(alone(contender, 1.0)), before.loss.scaled);
}

// The first kind alone where nothing judges between them.
bool ObliqueBooster::takes_part(index_t kind, index_t n_left_out) const {
  if (n_left_out < kFewestLeftOut) return kind == kCurvature;
  return n_left_out < kFewestForTurns ? turns_.has(kind) : turns_.takes_part(kind);
}

// Of the kinds that take part, the tree that does best on the rows left out.
Contender ObliqueBooster::choose_tree() {
  const bool compares = (contenders_.n_kinds() > 1 || takes_share()) && !in_bag_.empty();
  const index_t n_left_out = compares ? rows_.count_left_out(in_bag_, execution_.all) : 0;
  const std::vector<index_t> kinds =
      contenders_.kinds_of_round([&](index_t kind) { return takes_part(kind, n_left_out); });
  std::optional<StepGains> of_steps;
  if (kinds.size() > 1) of_steps.emplace(train_, *loss_, in_bag_, statistics_, execution_);
  std::vector<Contender> grown;
  std::vector<StepGain> gains;
  for (const index_t kind : kinds) {
    grown.push_back(contenders_.grow(kind));
    if (n_left_out < kFewestLeftOut) continue;
    const ObliqueTreesArrays tree = alone(grown.back(), rate_.value());
    const StepSums step = left_out_step(tree);
    if (takes_share()) add_step(grown.back(), step);
    if (of_steps) gains.push_back(of_steps->of(tree, step, derivatives()));
  }
  return std::move(grown[best_of(gains)]);
}

void ObliqueBooster::add_tree(Contender chosen) {
  const GrownRound round = {chosen.kind, rate_.value(), steps_.sums()};
  turns_.keep(round.kind);
  result_.rounds.push_back(round);
  result_.alpha = contenders_.alpha();
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
