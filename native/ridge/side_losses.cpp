#include "ridge/side_losses.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "ridge/dense.hpp"
#include "ridge/spd.hpp"

namespace fctree::ridge {

namespace {

// Least value of 1 - df / n: a model with as many numbers as samples has no estimate.
constexpr double kLeastFreedom = 0.02;

}  // namespace

Moments prior_of(const Moments& moments, const RidgeFit& fit, const Vector& origin,
                 double parent_weight) {
  const index_t d = moments.cross.rows();
  Moments prior;
  prior.weight = parent_weight;
  if (!(parent_weight > 0.0)) return prior;
  const double factor = parent_weight / moments.weight;
  const Matrix scatter = moments.scatter.selfadjointView<Eigen::Upper>();
  const Vector mean = (moments.mean + origin).head(d);
  prior.mean = moments.mean;
  prior.mean.tail(fit.intercept.size()) =
      fit.intercept + fit.coef.transpose() * mean - origin.tail(fit.intercept.size());
  prior.scatter = factor * moments.scatter;
  prior.cross = factor * scatter * fit.coef;
  prior.diagonal = factor * moments.diagonal;
  return prior;
}

void add_jitter(const Moments& scale, double* system, index_t stride) {
  const index_t d = scale.cross.rows();
  const double mean = scale.diagonal.head(d).mean();
  for (index_t j = 0; j < d; ++j)
    system[j * stride + j] += kSystemJitter * (scale.diagonal[j] + 1e-6 * mean) +
                              std::numeric_limits<double>::min();
}

ChildModels child_models(const Moments& prior, const Moments& scale, const Matrix& ancestors,
                         const Vector& origin, const RidgeOptions& options) {
  const index_t d = scale.cross.rows();
  const index_t n_outputs = scale.cross.cols();
  ChildModels models;
  models.n_features = d;
  models.n_outputs = n_outputs;
  models.fit_intercept = options.fit_intercept;
  models.origin = Vector::Zero(d + n_outputs);
  if (options.fit_intercept) models.origin = scale.mean + origin;
  models.base = RowMatrix::Zero(d, spd_stride(d));
  models.base.leftCols(d) = options.alpha * penalty_matrix(ancestors);
  add_jitter(scale, models.base.data(), spd_stride(d));
  models.prior = RowMatrix::Zero(packed_width(d, n_outputs), packed_width(d, n_outputs));
  if (prior.weight > 0.0) {
    models.prior = products_about(prior, models.origin - origin);
    models.base.leftCols(d) += models.prior.topLeftCorner(d, d);
  }
  return models;
}

SideLosses::SideLosses(const ChildModels& models, const RowMatrix& whole)
    : systems_{models.n_features,    models.n_outputs,   whole.cols(),
               models.base.cols(),   models.fit_intercept, models.base.data(),
               models.prior.data(),  whole.data()},
      one_(models.n_features + models.n_outputs),
      scratch_(side_scratch_size(models.n_features, models.n_outputs)) {}

void SideLosses::of(const Side* sides, index_t n, double* losses) {
  std::array<double, kSidesAtOnce> rss, freedom;
  side_kernels().fit_sides(systems_, sides, n, scratch_.data(), rss.data(), freedom.data());
  const index_t at = one_ * systems_.width + one_;
  for (index_t i = 0; i < n; ++i) {
    const double left = sides[i].left[at];
    const double weight = sides[i].is_right ? systems_.whole[at] - left : left;
    const double rest = std::max(1.0 - freedom[i] / weight, kLeastFreedom);
    losses[i] = std::max(rss[i], 0.0) / (rest * rest);
  }
}

double node_loss(const ChildModels& models, const RowMatrix& whole) {
  const Side side = {whole.data(), false};
  double loss = 0.0;
  SideLosses(models, whole).of(&side, 1, &loss);
  return loss;
}

}  // namespace fctree::ridge
