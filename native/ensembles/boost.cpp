#include "ensembles/boost.hpp"

#include <algorithm>
#include <cmath>

#include "ensembles/leaf_values.hpp"
#include "ensembles/learning_rate.hpp"
#include "ensembles/left_out_steps.hpp"
#include "ensembles/local_boosting_statistics.hpp"
#include "ensembles/row_sample.hpp"
#include "ensembles/sampled_search.hpp"
#include "ensembles/tree_features.hpp"
#include "ensembles/turns.hpp"
#include "ensembles/working_response.hpp"
#include "oblique/relevant_features.hpp"
#include "oblique/split_search/feature_draw.hpp"

namespace fctree::ensembles {

namespace {

// Different samples that have to be left out for kinds of trees to be compared on them.
constexpr index_t kFewestLeftOut = 12;
// Of few samples more are left out, so many if they are no more than half: kinds and shares are as good as what judges
// them, and fewer than a dozen judge nothing.
constexpr double kWantedLeftOut = 24.0;
constexpr double kLeastSubsample = 0.5;
// From here on growing each kind in each round gains nothing: some 300, which share hashes.
constexpr index_t kFewestForTurns = 176;

// Of the features, that a kind of trees after the first may split on: a tree that lacks the best ones finds
// others, and a sum of many such trees is better than of those that are all alike.
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
        all_{statistics_.find_map(task.train, varying_, kinds[0], execution)}, columns_(all_.map.columns),
        gradient_(task.sizes.n_outputs * train_.n()),
        hessian_(loss_->has_hessian() ? task.sizes.n_outputs * train_.n() : 0),
        rows_(task.train,
              {varying_, task.sizes.n_targets, drawn_units(task, execution).all(), params.rounds_features, params.seed,
               units_.all() == nullptr ? nullptr : task.train.initial},  // shifts of both targets and scores are none
              execution),
        rate_(params.learning_rate, *loss_),
        steps_(task.sizes.n_outputs),
        turns_(static_cast<index_t>(kinds.size())) {
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
    if (!draws_rows()) return;
    const double enough = 1.0 - kWantedLeftOut / rows_.count_different(execution.all);
    subsample_ = std::min(params.subsample, std::max(enough, kLeastSubsample));
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
  bool needs_index() const;
  double colsample(index_t iteration) const;
  index_t n_columns() const { return static_cast<index_t>(columns_.size()); }
  bool reads_features() const {
    return statistics_.reads_features(train_.n(), n_columns());
  }
  void map_rows(index_t iteration);
  TrainingData data_of(const TreeFeatures& features) const;
  TrainingData counted(TrainingData data);
  const TreeFeatures& features_of(index_t kind);
  Contender grow_kind(index_t kind, index_t iteration);
  // Of outer quantiles too few rows left out say how far steps hold.
  bool takes_share() const { return loss_->leaf_rule() != LeafRule::quantile || loss_->quantile_order() == 0.5; }
  StepSums left_out_step(const Contender& contender, double rate);
  void add_step(index_t kind, const Contender& contender, const StepSums& step);
  double left_out_change(const StepSums& step) const;
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
  TreeFeatures all_;  // of the round
  const std::vector<index_t> columns_;  // that rounds draw from
  bool is_mapped_ = false;  // whether all_ has been chosen
  TreeFeatures few_;  // that its curvature tree needs most
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
    losses.evals.push_back(
        {statistics_.evaluate(eval, *loss_, nullptr, execution_), eval.view().raw});
  return losses;
}

void ObliqueBooster::sample_rows(index_t iteration) {
  if (!draws_rows()) return;
  rows_.draw_part(iteration, subsample_, execution_, in_bag_);
  // Where all rows were drawn nothing is left to judge kinds of trees by.
  const index_t n_left_out = std::count(in_bag_.begin(), in_bag_.end(), 0);
  if (add_up(execution_.all, n_left_out) == 0) in_bag_.clear();
}

Contender ObliqueBooster::grow_kind(index_t kind, index_t iteration) {
  Contender grown;
  grown.features = &features_of(kind);
  TrainingData data = data_of(*grown.features);
  data.has_curvatures = !hessian_.empty();
  if (data.has_curvatures || kinds_[kind].choose_alpha) data = counted(data);
  if (kind > 0) {
    const double n_wanted = std::ceil(kShareOfSteps * static_cast<double>(data.n_features));
    kinds_[kind].node_features = {static_cast<index_t>(n_wanted), params_.seed, iteration, true};
  }
  auto [tree, leaf] = grow_round_tree(data, kind, kinds_[kind], searched_, statistics_, execution_);
  grown.tree = std::move(tree);
  if (kinds_[kind].choose_alpha) {
    kinds_[kind].choose_alpha = false;
    kinds_[kind].alpha = grown.tree.alpha;
  }
  if (loss_->leaf_rule() != LeafRule::newton)
    revise_constants(*loss_,
                     {train_.view(), data, leaf, response_.farthest},
                     params_.l2_leaf_reg, execution_, grown.tree);
  else if (params_.l2_leaf_reg > 0.0)
    shrink_leaves(params_.l2_leaf_reg, grown.tree);
  if (!hessian_.empty())
    lengthen_steps({train_.view(), response_.weight.data(), hessian_.data()}, params_.l2_leaf_reg,
                   leaf, execution_, grown.tree);
  grown.bounds = bound_leaves(grown.tree, data, leaf,
                              {params_.extrapolation, loss_->largest_step()}, execution_);
  if (sizes_.unit != nullptr) scale_outputs(sizes_.unit, grown.tree, grown.bounds);
  return grown;
}

// What the tree's step does on the rows that it was not grown on.
StepSums ObliqueBooster::left_out_step(const Contender& contender, double rate) {
  ObliqueTreesArrays one;
  one.n_features = task_.sizes.n_features;
  one.n_outputs = task_.sizes.n_outputs;
  append_tree(contender.tree, contender.bounds, contender.features->map, rate, one);
  return statistics_.left_out_step(train_, *loss_, {one, in_bag_, derivatives()}, execution_);
}

void ObliqueBooster::add_step(index_t kind, const Contender& contender, const StepSums& step) {
  if (loss_->leaf_rule() == LeafRule::newton) return steps_.add(kind, step, rate_.value());
  const LossSum before = statistics_.evaluate_left_out(train_, *loss_, in_bag_, execution_);
  steps_.add_full(kind, left_out_step(contender, 1.0), before.loss.scaled);
}

// What contenders are compared by: the mean loss after the step, or, of a loss that has derivatives
// only, its change up to second order.
double ObliqueBooster::left_out_change(const StepSums& step) const {
  if (loss_->has_value()) return step.mean_loss();
  const StepTerms terms = step.total();
  return 0.5 * terms.curvature - terms.decrease;
}

double ObliqueBooster::colsample(index_t iteration) const {
  const bool halves = params_.halved_from > 0 && n_columns() >= params_.halved_from;
  return halves && params_.colsample == 1.0 && iteration % 2 == 1 ? 0.5 : params_.colsample;
}

void ObliqueBooster::map_rows(index_t iteration) {
  const bool is_first = !is_mapped_, keeps = !reads_features();
  if (is_first) {
    all_.choose(all_.map.columns, train_.x());
    if (keeps) all_.keep(train_.n(), execution_);
    if (needs_index()) statistics_.index_features(data_of(all_), all_.map, execution_);
    is_mapped_ = true;
  }
  std::vector<index_t> columns = draw_columns(params_.seed, iteration, colsample(iteration), n_columns());
  for (index_t& column : columns) column = columns_[column];
  const bool is_same = columns == all_.map.columns;
  if (is_same && !is_first) return;
  if (!is_same) all_.choose(std::move(columns), train_.x());
  if (keeps) all_.keep(train_.n(), execution_);
  for (index_t kind = 0; kind < static_cast<index_t>(kinds_.size()); ++kind)
    statistics_.set_features(kind, all_.map, execution_);
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

// All of the round, or few of many for a tree with linear models: these are a sparser, faster one.
const TreeFeatures& ObliqueBooster::features_of(index_t kind) {
  const ObliqueParams& params = kinds_[kind];
  const TrainingData data = data_of(all_);
  std::vector<index_t> places;
  if (may_take_few(data, params)) {
    statistics_.set_features(kind, all_.map, execution_);
    places = statistics_.relevant_features(searched_.of(counted(data)), kind, searched_.of(params), execution_);
  }
  // Of many rows there is room for the features of one tree, if it needs that: one that is grown on a sample does not.
  const bool reads = reads_features();
  const bool keeps = !(reads && (takes_only_axes(params) || searched_.is_sample_for(params)));
  if (places.empty()) {
    if (reads && keeps) few_.release();
    if (keeps) all_.keep(train_.n(), execution_);
    return all_;
  }
  if (reads) all_.release();
  few_.map = all_.map;
  for (index_t& place : places) place = all_.map.columns[place];
  few_.choose(std::move(places), train_.x());
  if (keeps) few_.keep(train_.n(), execution_);
  statistics_.set_features(kind, few_.map, execution_);
  return few_;
}

// Kinds after the first are grown only where left-out rows can judge between them.
bool ObliqueBooster::needs_index() const {
  const std::size_t n_grown = draws_rows() ? kinds_.size() : 1;
  return std::any_of(kinds_.begin(), kinds_.begin() + n_grown, sorts_axes);
}

void ObliqueBooster::add_tree(index_t iteration) {
  map_rows(iteration);
  if (kinds_[0].ridge_criterion && !kinds_[0].choose_alpha)
    searched_.draw(data_of(all_), rows_, iteration, subsample_, execution_);
  const bool compares = (kinds_.size() > 1 || takes_share()) && !in_bag_.empty();
  const index_t n_left_out = compares ? rows_.count_left_out(in_bag_, execution_.all) : 0;
  const bool judges = n_left_out >= kFewestLeftOut, takes_turns = n_left_out >= kFewestForTurns;
  Contender chosen;
  GrownRound round = {-1, rate_.value(), {}};
  StepSums least(task_.sizes.n_outputs);
  for (index_t kind = 0; kind < static_cast<index_t>(kinds_.size()); ++kind) {
    if (judges ? takes_turns && !turns_.takes_part(kind) : kind > 0) continue;
    Contender contender = grow_kind(kind, iteration);
    if (judges) {
      const StepSums step = left_out_step(contender, round.rate);
      if (takes_share()) add_step(kind, contender, step);
      if (round.kind >= 0 && !(left_out_change(step) < left_out_change(least))) continue;
      least = step;
    }
    round.kind = kind;
    chosen = std::move(contender);
  }
  round.steps = steps_.sums();
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
