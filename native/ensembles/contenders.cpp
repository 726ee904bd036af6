#include "ensembles/contenders.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/collective.hpp"
#include "ensembles/tree_sum.hpp"
#include "oblique/relevant_features.hpp"

namespace fctree::ensembles {

namespace {

// Of the features, that a step tree may split on: one that lacks the best finds others, and trees should not be all alike.
constexpr double kShareOfSteps = 0.8;
// Where features have effects of their own, deep step trees fit single samples early.
constexpr index_t kFewLevels = 3;
// Of fewer samples for each of several classes, trees of few levels have too few leaves.
constexpr double kFewestOfClass = 500.0;

}  // namespace

Contenders::Contenders(const BoostedProblem& problem, std::vector<ObliqueParams> kinds, FeatureMap features)
    : problem_(problem), kinds_(std::move(kinds)),
      features_(std::move(features), problem.train.x(), problem.train.n(), problem.execution) {}

bool Contenders::may_leave_residuals() const {
  ObliqueParams params = kinds_[kCurvature];
  params.choose_alpha = false;  // after the first round
  return params.ridge_criterion && may_take_few(data_of(features_.all()), params);
}

bool Contenders::may_take_few_steps() const {
  const auto& [params, loss, train, groups, statistics, execution] = problem_;
  const index_t n_outputs = train.sizes().n_outputs;
  const bool are_classes = n_outputs > 1 && loss.has_hessian();
  const double n_samples = static_cast<double>(add_up(execution.all, train.n()));
  return n_kinds() > kSteps && kinds_[kSteps].max_depth > kFewLevels &&
         (!are_classes || n_samples >= kFewestOfClass * static_cast<double>(n_outputs));
}

void Contenders::start() {
  const auto& [params, loss, train, groups, statistics, execution] = problem_;
  features_.start(statistics.reads_features(train.n(), features_.all().map.width()));
  fewest_in_leaf_ = loss.fewest_in_leaf(train.view(), execution);
  set_features();
  // Step trees are grown only where left-out rows can judge them.
  const index_t n_grown = params.subsample < 1.0 ? n_kinds() : 1;
  if (std::any_of(kinds_.begin(), kinds_.begin() + n_grown, sorts_axes))
    statistics.index_features(data_of(features_.all()), features_.all().map, execution);
}

void Contenders::open_round(const BoostingRound& round, const RowSampler& rows) {
  round_ = round;
  find_working_response(problem_.loss, problem_.train.view(), round.derivatives, round.in_bag, response_, problem_.execution);
  if (features_.draw(problem_.params.seed, round.iteration, colsample())) set_features();
  if (!kinds_[kCurvature].ridge_criterion || kinds_[kCurvature].choose_alpha) return;
  const TrainingData data = data_of(features_.all());
  const index_t n_rows = count_weighted(data, problem_.execution);
  const double n_wanted = count_searched(data, n_rows, problem_.execution);
  searched_.draw(data, rows, {round.iteration, round.subsample, n_rows, n_wanted}, problem_.execution);
}

double Contenders::colsample() const {
  const ObliqueBoostingParams& params = problem_.params;
  const bool halves = params.halved_from > 0 && features_.n_columns() >= params.halved_from;
  return halves && params.colsample == 1.0 && round_.iteration % 2 == 1 ? 0.5 : params.colsample;
}

// Of the trees to come, of each kind.
void Contenders::set_features() {
  for (index_t kind = 0; kind < n_kinds(); ++kind)
    problem_.statistics.set_features(kind, features_.all().map, problem_.execution);
}

TrainingData Contenders::data_of(const TreeFeatures& features) const {
  TrainingData data = {nullptr, response_.target.data(), response_.weight.data(), problem_.train.n(), features.map.width(),
                       problem_.train.sizes().n_outputs};
  data.groups = problem_.groups;
  data.columns = features.map.columns.data();
  if (features.is_kept)
    data.x = features.x.data();
  else
    data.features = &features.reader;
  return data;
}

TrainingData Contenders::counted(TrainingData data) {
  const double* weight = problem_.train.view().weight;
  if (weight == nullptr) counts_.resize(problem_.train.n(), 1.0);
  data.count = counts_.empty() ? weight : counts_.data();
  return data;
}

TrainingData Contenders::fitted_data(const TreeFeatures& features, const ObliqueParams& params) {
  TrainingData data = data_of(features);
  data.has_curvatures = round_.derivatives.hessian != nullptr;
  return data.has_curvatures || params.choose_alpha ? counted(data) : data;
}

// All of the round, or few of many for a tree with linear models: these are a sparser, faster one.
const TreeFeatures& Contenders::take_features(index_t kind) {
  const auto& [boosting, loss, train, groups, statistics, execution] = problem_;
  const ObliqueParams& params = kinds_[kind];
  const TreeFeatures& all = features_.all();
  std::vector<index_t> places;
  if (may_take_few(data_of(all), params)) {
    statistics.set_features(kind, all.map, execution);
    places = statistics.relevant_features(searched_.of(counted(data_of(all))), kind, searched_.of(params), execution);
  }
  const bool again = !takes_only_axes(params) && !searched_.is_sample_for(params);
  if (places.empty()) return features_.take_all(again);
  const TreeFeatures& few = features_.take_few(std::move(places), again);
  statistics.set_features(kind, few.map, execution);
  return few;
}

std::vector<index_t> Contenders::kinds_of_round(const std::function<bool(index_t)>& takes_part) {
  std::vector<index_t> kinds;
  const bool curved = takes_part(kCurvature), residual = takes_part(kResidual), linear = takes_part(kLinear);
  if (curved || residual || linear) {
    curved_ = &take_features(kCurvature);
    const bool takes_all = !features_.is_few(*curved_) && may_take_few(data_of(*curved_), kinds_[kCurvature]);
    if (curved || (residual && !takes_all)) kinds.push_back(kCurvature);
    if (residual && takes_all) kinds.push_back(kResidual);
    if (linear) kinds.push_back(kLinear);
  }
  for (const index_t kind : {kSteps, kFewSteps})
    if (takes_part(kind)) kinds.push_back(kind);
  return kinds;
}

RoundTree Contenders::grow_residual_tree() {
  const auto& [boosting, loss, train, groups, statistics, execution] = problem_;
  ObliqueParams params = kinds_[kCurvature];
  params.max_depth = 0;
  const TreeFeatures& all = features_.all();
  const TrainingData data = fitted_data(all, params);
  RoundTree grown = grow_round_tree(data, kCurvature, params, searched_, statistics, execution);
  const std::vector<double> targets = response_.target;
  subtract_scores(grown.arrays, data, grown.leaf, execution, response_.target.data());
  const TreeFeatures& few = take_features(kCurvature);
  if (features_.is_few(few)) {
    RoundTree tree = grow_round_tree(fitted_data(few, params), kCurvature, kinds_[kCurvature], searched_, statistics, execution);
    const std::vector<index_t> places = places_of(few.map.columns, all.map.columns);
    grown = {sum_of(grown.arrays, std::move(tree.arrays), places), std::move(tree.leaf)};
    statistics.set_features(kCurvature, all.map, execution);  // those of a linear model that competes
  }
  std::copy(targets.begin(), targets.end(), response_.target.begin());
  find_means(fitted_data(all, params), grown.leaf, execution, grown.arrays);
  return grown;
}

RoundTree Contenders::grow_curvature_tree() {
  ObliqueParams& params = kinds_[kCurvature];
  RoundTree grown =
      grow_round_tree(fitted_data(*curved_, params), kCurvature, params, searched_, problem_.statistics, problem_.execution);
  if (params.choose_alpha) {
    params.choose_alpha = false;
    params.alpha = grown.arrays.alpha;
  }
  return grown;
}

RoundTree Contenders::grow_linear_tree() {
  ObliqueParams params = kinds_[kCurvature];
  params.max_depth = 0;
  return grow_round_tree(fitted_data(*curved_, params), kCurvature, params, searched_, problem_.statistics, problem_.execution);
}

RoundTree Contenders::grow_step_tree(index_t kind, const TreeFeatures& features) {
  ObliqueParams params = kinds_[kSteps];
  if (kind == kFewSteps)
    params.max_depth = kFewLevels;
  else
    params.min_samples_leaf = std::max(params.min_samples_leaf, fewest_in_leaf_);
  const double n_wanted = std::ceil(kShareOfSteps * static_cast<double>(features.map.width()));
  params.node_features = {static_cast<index_t>(n_wanted), problem_.params.seed, round_.iteration, true};
  return grow_round_tree(fitted_data(features, params), kSteps, params, searched_, problem_.statistics, problem_.execution);
}

RoundTree Contenders::grow_tree(index_t kind, const TreeFeatures& features) {
  if (kind == kCurvature) return grow_curvature_tree();
  if (kind == kResidual) return grow_residual_tree();
  if (kind == kLinear) return grow_linear_tree();
  return grow_step_tree(kind, features);
}

Contender Contenders::grow(index_t kind) {
  const TreeFeatures& features =
      is_of_steps(kind) ? take_features(kSteps) : kind == kResidual ? features_.all() : *curved_;
  RoundTree grown = grow_tree(kind, features);
  Contender contender = {kind, &features, std::move(grown.arrays), {}};
  finish_leaves(grown.leaf, data_of(features), contender);
  return contender;
}

// Their constants where the loss asks for an order statistic, their length, and their bounds.
void Contenders::finish_leaves(const Buffer<index_t>& leaf, const TrainingData& data, Contender& contender) const {
  const auto& [params, loss, train, groups, statistics, execution] = problem_;
  ObliqueTreeArrays& tree = contender.tree;
  const double penalty = loss.penalty_factor() * params.l2_leaf_reg;
  if (loss.leaf_rule() != LeafRule::newton)
    revise_constants(loss, {train.view(), data, leaf, response_.farthest}, penalty, execution, tree);
  else if (penalty > 0.0)
    shrink_leaves(penalty, tree);
  if (round_.derivatives.hessian != nullptr)
    lengthen_steps({train.view(), response_.weight.data(), round_.derivatives.hessian}, penalty, leaf, execution, tree);
  contender.bounds = bound_leaves(tree, data, leaf, {params.extrapolation, loss.largest_step()}, execution);
  if (train.sizes().unit != nullptr) scale_outputs(train.sizes().unit, tree, contender.bounds);
}

}  // namespace fctree::ensembles
