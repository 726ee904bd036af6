#include "oblique/relevant_features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "oblique/marginal_screening.hpp"
#include "oblique/split_search/curvature.hpp"
#include "ridge/factors.hpp"
#include "ridge/row_blocks.hpp"

namespace fctree::oblique {

namespace {

// Of one output; one more for each other.
constexpr index_t kFewFeatures = 8;

// With fewer samples a feature the residuals of a model of all features are mostly its own choice, not the target's.
constexpr double kFewestPerFeature = 2.0;

// With fewer, weights above 1 and copies are no samples of their own: a model of nearly all of them fits them as well.
constexpr double kFewestCounted = 8.0;

// Of fewer samples than that, at most: choosing among more would take longer than a tree of all.
constexpr index_t kMostOfFewSamples = 500;

// Of more samples their inner products would take longer than a tree does.
constexpr index_t kMostInnerProducts = 1000;
constexpr index_t kFeaturesAtATime = 512;

// The share of a feature's variation that others do not explain: with less it is a copy of them.
constexpr double kLeastRest = 1e-8;

// Of the logarithm of the ways to choose features, what counts where samples are few (Selection).
constexpr double kShareOfFew = 0.5;

// Of so many features at most one is taken, unless more are wanted.
constexpr index_t kFeaturesToOne = 4;

using Features = std::vector<index_t>;

// Of a model that leaves a squared error and uses degrees of freedom beside the intercept.
double cross_validated(double left, double freedom, double n_samples) {
  const double share = 1.0 - (1.0 + freedom) / n_samples;
  return share > 0.0 ? left / (share * share) : std::numeric_limits<double>::infinity();
}

// Ridge models of the root's targets, of any features.
struct RootModels {
  NormalEquations equations;
  double error;   // of no features
  double n_samples;  // as many of equal weight would be worth
  double alpha;
  double noise;

  double error_of(const Features& features) const;
  double cross_validation_error(const Features& features, double left, double cost = 1.0) const;
};

double RootModels::error_of(const Features& features) const {
  const index_t d = static_cast<index_t>(features.size());
  const Matrix scatter = equations.scatter(features, features);
  const Matrix cross = equations.cross(features, Eigen::all);
  const Matrix coef = solve_ridge(scatter, cross, Matrix::Identity(d, d), alpha, noise);
  return error - (2.0 * cross - product_of(scatter, coef)).cwiseProduct(coef).sum();
}

// From the error `left` of a model of these features, and what each degree of freedom counts for.
double RootModels::cross_validation_error(const Features& features, double left,
                                          double cost) const {
  const index_t d = static_cast<index_t>(features.size());
  double freedom = static_cast<double>(d);
  if (alpha > 0.0) {
    Matrix inverse = Matrix::Identity(d, d);  // of the factor
    CholeskyFactor(equations.scatter(features, features) + alpha * inverse).solve_lower(inverse);
    freedom -= alpha * inverse.squaredNorm();
  }
  return cross_validated(left, freedom * cost, n_samples);
}

// By how much the product of each feature with another one, or with itself, would lower the error, (d).
Vector bends_of(const CurvatureProblem& problem, double weight) {
  const Vector variance = problem.covariance.diagonal();
  Vector bends = Vector::Zero(variance.size());
  for (const Matrix& hessian : problem.hessians)
    for (index_t j = 0; j < variance.size(); ++j) {
      Vector decrease =
          weight / variance[j] * hessian.col(j).cwiseAbs2().cwiseQuotient(variance);
      decrease[j] *= 0.5;  // a square varies twice as much as a product
      bends[j] += decrease.maxCoeff();
    }
  return bends;
}

// How many features bend the target, if this many have a decrease above 2 log(d) mean squares: each has by
// chance if the largest of d such numbers, squares of standard normal ones, is.
index_t count_clear(const Vector& bends, double mean_square) {
  const double d = static_cast<double>(bends.size());
  const double n_above = (bends.array() > 2.0 * std::log(d) * mean_square).count();
  const double by_chance = 1.0 - std::exp(-d * std::erfc(std::sqrt(std::log(d))));
  return std::lround(std::max(n_above - by_chance * d, 0.0) / (1.0 - by_chance));
}

// Features in the order in which forward selection takes them, found as far as they are asked for.
class ForwardSelection {
 public:
  ForwardSelection(const RootModels& models, const Vector& bends)
      : alpha_(models.alpha), bends_(bends), left_(models.equations), whole_(left_.scatter.diagonal()) {}

  Features first(index_t n) {
    while (static_cast<index_t>(taken_.size()) < n) take();
    return {taken_.begin(), taken_.begin() + n};
  }

 private:
  bool varies(index_t j) const { return left_.scatter(j, j) > kLeastRest * whole_[j]; }
  void take();

  double alpha_;
  const Vector& bends_;
  NormalEquations left_;  // of what the features taken leave of the others
  const Vector whole_;
  Features taken_;
};

void ForwardSelection::take() {
  check_interrupt();
  auto& [scatter, cross] = left_;
  Vector gain(whole_.size());
  for (index_t j = 0; j < gain.size(); ++j)
    gain[j] = varies(j) ? cross.row(j).squaredNorm() / (scatter(j, j) + alpha_) + bends_[j] : 0.0;
  for (const index_t j : taken_) gain[j] = -1.0;
  index_t best = 0;
  gain.maxCoeff(&best);
  taken_.push_back(best);
  if (!varies(best)) return;
  const Vector along = scatter.col(best) / (scatter(best, best) + alpha_);
  const Vector column = scatter.col(best);
  const Eigen::RowVectorXd row = cross.row(best);
  scatter.noalias() -= along * column.transpose();
  cross.noalias() -= along * row;
}

// Which features a model takes, from the first ones of forward selections.
struct Selection {
  const RootModels& models;
  ForwardSelection forward;
  index_t most;       // that may be taken beyond those wanted
  double n_features;  // that all were chosen from
  double error_of_all;

  // With a degree of freedom counting for 1 + share log(d / p): some of many features suit by chance, and of the
  // ways to choose p of d there are about (d / p)^p.
  double error_of(const Features& few, double share) const {
    const double cost = 1.0 + share * std::log(n_features / static_cast<double>(few.size()));
    return models.cross_validation_error(few, models.error_of(few), cost);
  }
  bool suffice(const Features& few, double share) const {
    const double error = error_of(few, share);
    return error <= error_of_all && std::isfinite(error);
  }
  Features smallest(index_t n_wanted);
  Features of_few_samples(index_t n_wanted);
};

// Those wanted, if they predict as well as all; else twice as many, four times, .., which choice has to count for.
Features Selection::smallest(index_t n_wanted) {
  Features few = forward.first(n_wanted);
  if (suffice(few, 0.0)) return few;
  for (index_t n = 2 * n_wanted; n <= most; n *= 2)
    if (suffice(few = forward.first(n), 1.0)) return few;
  return {};
}

// Those wanted, or twice as many, four times, .., while the error falls; of them as many as predict as well as all.
Features Selection::of_few_samples(index_t n_wanted) {
  Features few = forward.first(n_wanted);
  double error = error_of(few, kShareOfFew);
  for (index_t n = 2 * n_wanted; n <= most; n *= 2) {
    Features more = forward.first(n);
    const double error_of_more = error_of(more, kShareOfFew);
    if (!(error_of_more < error)) break;
    error = error_of_more;
    few = std::move(more);
  }
  while (!few.empty() && !suffice(few, kShareOfFew)) few.pop_back();
  return few;
}

// The stand-in for a model of all features where that leaves too little to judge them by.
RidgeFit mean_of_targets(const GrowState& state, const OpenNode& root) {
  const index_t n_outputs = state.data.n_outputs;
  return {Matrix::Zero(state.data.n_features, n_outputs), state.target_mean(root), Vector::Zero(n_outputs)};
}

RootModels root_models(const GrowState& state, const OpenNode& root, double n_samples) {
  const Moments& moments = root.moments;
  const bool fit_intercept = state.params.fit_intercept;
  double error = moments.diagonal.tail(state.data.n_outputs).sum();
  if (!fit_intercept) error += moments.weight * state.target_mean(root).squaredNorm();
  return {normal_equations(moments, state.origin, fit_intercept), error, n_samples, state.params.alpha,
          rounding_noise(moments)};
}

bool are_many(const SampleSums& samples, index_t n_features) {
  return samples.number >= kFewestPerFeature * static_cast<double>(n_features);
}

// How many of these rows are not copies of others.
double count_different(const TrainingData& data, const NodeRows& among) {
  std::vector<std::int32_t> rows(among.rows, among.rows + among.size);
  const index_t d = data.n_features, n_outputs = data.n_outputs;
  const auto compared = [&](std::int32_t a, std::int32_t b) {
    const auto [at, other] = std::mismatch(data.x + a * d, data.x + (a + 1) * d, data.x + b * d);
    if (at != data.x + (a + 1) * d) return *at < *other ? -1 : 1;
    const double* y = data.y + a * n_outputs;
    const auto [own, theirs] = std::mismatch(y, y + n_outputs, data.y + b * n_outputs);
    return own == y + n_outputs ? 0 : *own < *theirs ? -1 : 1;
  };
  std::sort(rows.begin(), rows.end(),
            [&](std::int32_t a, std::int32_t b) { return compared(a, b) < 0; });
  double n_different = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    n_different += i == 0 || compared(rows[i - 1], rows[i]) != 0;
  return n_different;
}

// cross_validation_error of all features of these rows, from the rows' inner products. O(n^2 d).
double error_of_all_features(const TrainingData& data, const NodeRows& among,
                             const ObliqueParams& params, double n_samples) {
  const index_t n = among.size, d = data.n_features;
  Vector roots(n);
  for (index_t i = 0; i < n; ++i) roots[i] = std::sqrt(data.weight_of(among.rows[i]));
  const Vector unit = roots.normalized();
  // Some columns of a row-major table, of the rows, weighted and centred.
  const auto columns = [&](const double* table, index_t stride, index_t first, index_t width) {
    Matrix part(n, width);
    for (index_t i = 0; i < n; ++i)
      part.row(i) = roots[i] * VectorView(table + among.rows[i] * stride + first, width).transpose();
    if (params.fit_intercept) part -= unit * (unit.transpose() * part).eval();
    return part;
  };
  Matrix system = params.alpha * Matrix::Identity(n, n);
  for (index_t first = 0; first < d; first += kFeaturesAtATime) {
    check_interrupt();
    system += gram_of(columns(data.x, d, first, std::min(kFeaturesAtATime, d - first)));
  }
  const CholeskyFactor factor(system);
  if (!factor.is_definite()) return std::numeric_limits<double>::infinity();
  Matrix inverse = Matrix::Identity(n, n);  // of the factor
  factor.solve_lower(inverse);
  const double freedom = static_cast<double>(n) - params.alpha * inverse.squaredNorm();
  const Matrix left = params.alpha * factor.solve(columns(data.y, data.n_outputs, 0, data.n_outputs));
  return cross_validated(left.squaredNorm(), freedom, n_samples);
}

index_t count_wanted(const TrainingData& data) { return kFewFeatures + data.n_outputs - 1; }

}  // namespace

bool may_take_few(const TrainingData& data, const ObliqueParams& params) {
  return params.standardize && (params.ridge_criterion || searches(params, SplitKind::curvature)) &&
         !params.choose_alpha && data.n_features > count_wanted(data);
}

bool has_few_samples(const TrainingData& data) {
  const double number = kFewestCounted * static_cast<double>(data.n_features);
  double found = 0.0;  // each is a sample or more
  for (index_t i = 0; i < data.n_samples && found < number; ++i) found += data.weight_of(i) > 0.0;
  return found < number;
}

std::vector<index_t> relevant_features(const TrainingData& data, const ObliqueParams& params,
                                       NodeStatistics& statistics, const Execution& team,
                                       const Known& known) {
  if (!may_take_few(data, params)) return {};
  GrowState state(data, params, limit_threads(team, moment_work(data)), statistics, statistics.offset());
  OpenNode root;
  root.ancestors = Matrix(data.n_features, 0);
  statistics.open(state, root);
  SampleSums samples = statistics.sum_samples(state, root);
  samples.number = std::min(samples.number, known.n_different);
  const bool judges_all = are_many(samples, data.n_features);
  const bool are_few = samples.number < static_cast<double>(known.n_features);
  root.moments = statistics.full_moments(state, {&root})[0];
  if (!root.moments.diagonal.allFinite() || !(state.variance_of(root) > 0.0)) return {};
  root.fit = judges_all ? fit_ridge(root.moments, root.ancestors, state.origin, state.ridge_options())
                        : mean_of_targets(state, root);
  statistics.score_models(state, {&root});
  const CurvatureProblem problem =
      curvature_problem(root.moments, statistics.residual_scatter(state, {&root})[0]);
  if (!(problem.covariance.trace() > 0.0)) return {};

  const double n_equal = root.moments.weight * root.moments.weight / samples.squared_weights;
  const RootModels models = root_models(state, root, are_few ? samples.number : std::min(n_equal, known.n_different));
  const Vector bends = bends_of(problem, root.moments.weight);
  const double left = models.error - root.fit.reduction.sum();  // by a model of all
  index_t n_wanted = count_wanted(data);
  if (judges_all)
    n_wanted = std::max(n_wanted, count_clear(bends, left / std::min(models.n_samples, root.moments.weight)));
  if (n_wanted >= data.n_features) return {};
  const Features all = all_columns(data.n_features);
  const double error_of_all =
      known.error_of_all.has_value()
          ? *known.error_of_all
          : models.cross_validation_error(all, judges_all ? left : models.error_of(all));
  Selection selection = {models, {models, bends}, data.n_features / kFeaturesToOne,
                         static_cast<double>(known.n_features), error_of_all};
  Features few = are_few ? selection.of_few_samples(n_wanted) : selection.smallest(n_wanted);
  std::sort(few.begin(), few.end());
  return few;
}

std::vector<index_t> relevant_local_features(const TrainingData& data, const ObliqueParams& params,
                                             LocalStatistics& statistics, const Execution& team) {
  if (!may_take_few(data, params)) return {};
  const index_t n = data.n_samples, d = data.n_features, n_kept = kMostOfFewSamples;
  Known known = {d};
  if (!has_few_samples(data)) return relevant_features(data, params, statistics, team, known);
  const Buffer<std::int32_t> rows = weighted_rows(data, team);
  const NodeRows all = {rows.data(), rows.size()};
  SampleSums samples = sum_samples(data, all, team);
  if (data.x != nullptr && samples.number < kFewestCounted * static_cast<double>(d))
    known.n_different = count_different(data, all);
  samples.number = std::min(samples.number, known.n_different);
  if (data.x != nullptr && samples.number < static_cast<double>(d) && all.size <= kMostInnerProducts)
    known.error_of_all = error_of_all_features(data, all, params, samples.number);
  if (d <= n_kept || are_many(samples, d))
    return relevant_features(data, params, statistics, team, known);
  const Features screened = screen_marginally(data, n_kept, team);
  std::vector<double> x(n * n_kept), column(all.size);
  const Vector& offset = statistics.offset();
  for (index_t j = 0; j < n_kept; ++j) {
    read_feature(data, all, screened[j], column.data());
    for (index_t i = 0; i < all.size; ++i) x[rows[i] * n_kept + j] = column[i];
  }
  TrainingData part = data;
  part.x = x.data();
  part.features = nullptr;
  part.n_features = n_kept;
  LocalStatistics of_part;
  if (offset.size() > 0) of_part.set_offset(offset(screened));
  Features few = relevant_features(part, params, of_part, team, known);
  for (index_t& place : few) place = screened[place];
  return few;
}

}  // namespace fctree::oblique
