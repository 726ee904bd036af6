#include "ridge/side_losses.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "ridge/dense.hpp"
#include "ridge/factors.hpp"
#include "ridge/spd.hpp"

namespace fctree::ridge {

namespace {

// Least value of 1 - df / n: a model with as many numbers as samples has no estimate.
constexpr double kLeastFreedom = 0.02;

// From here on one side's system is larger than a core's cache, and eight of them at once are slower
// than one after the other, take eight times the memory, and hear no interrupt.
constexpr index_t kLargeSystem = 512;

// As fit_sides (side_kernels.isa.cpp) computes them.
struct SideFit {
  double rss = std::numeric_limits<double>::infinity();
  double freedom = 0.0;
};

// tr(A^{-1} B), B symmetric, by columns.
double trace_of_ratio(const CholeskyFactor& factor, const Matrix& b) {
  constexpr index_t kStep = 64;
  const index_t d = b.rows();
  double trace = 0.0;
  for (index_t begin = 0; begin < d; begin += kStep) {
    const index_t size = std::min(kStep, d - begin);
    Matrix columns = Matrix::Zero(d, size);
    columns.middleRows(begin, size).setIdentity();
    trace += factor.solve(columns).cwiseProduct(b.middleCols(begin, size)).sum();
  }
  return trace;
}

SideFit fit_large_side(const SideSystems& s, const Side& side) {
  const index_t d = s.n_features, one = d + s.n_outputs, of_sums = s.sums_row, rows = packed_rows(d);
  const RowMatrixView whole(s.whole, rows, s.width), prior(s.prior, rows, s.width);
  const RowMatrixView base(s.base, d, s.base_stride);
  RowMatrix products = RowMatrixView(side.left, rows, s.width);
  if (side.is_right) products = whole - products;
  const double weight = products(of_sums, one), total = weight + prior(of_sums, one);
  const double centring = 1.0 / total;
  const Vector real = products.col(one).head(d), sums = real + prior.col(one).head(d);
  const Matrix scatter = products.topLeftCorner(d, d).selfadjointView<Eigen::Upper>();
  Matrix system = base.leftCols(d).transpose();
  system += scatter - (centring * sums) * sums.transpose();
  const CholeskyFactor factor(system);
  SideFit fit;
  if (!factor.is_definite()) return fit;
  fit.rss = 0.0;
  for (index_t k = d; k < one; ++k) {
    const double of_target = products(of_sums, k), target_sum = of_target + prior(of_sums, k);
    const Vector own = products.col(k).head(d);
    const Vector w = factor.solve(own + prior.col(k).head(d) - centring * target_sum * sums);
    const double intercept = centring * (target_sum - w.dot(sums));
    fit.rss += products(squares_row(d), k) + w.dot(Vector(product_of(scatter, w))) -
               2.0 * w.dot(own) +
               intercept * (intercept * weight - 2.0 * of_target + 2.0 * w.dot(real));
  }
  fit.freedom = trace_of_ratio(factor, scatter);
  const Vector solved = factor.solve(sums);
  fit.freedom += (weight - 2.0 * solved.dot(real) + weight * solved.dot(sums) / total) / total;
  return fit;
}

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
  models.mean_weight = options.mean_weight;
  models.origin = scale.mean + origin;
  models.base = RowMatrix::Zero(d, spd_stride(d));
  models.base.leftCols(d) = options.alpha * penalty_matrix(ancestors);
  add_jitter(scale, models.base.data(), spd_stride(d));
  models.prior = RowMatrix::Zero(packed_rows(d), packed_width(d, n_outputs));
  if (prior.weight > 0.0) {
    models.prior = products_about(prior, models.origin - origin);
    models.base.leftCols(d) += models.prior.topLeftCorner(d, d);
  }
  return models;
}

SideLosses::SideLosses(const ChildModels& models, const RowMatrix& whole)
    : systems_{models.n_features,  models.n_outputs,   whole.cols(),        sums_row(models.n_features),
               models.base.cols(), models.base.data(), models.prior.data(), whole.data()},
      mean_weight_(models.mean_weight),
      scratch_(one_at_a_time() ? 0 : side_scratch_size(models.n_features, models.n_outputs)) {}

bool SideLosses::one_at_a_time() const { return systems_.n_features > kLargeSystem; }

void SideLosses::of(const Side* sides, index_t n, double* losses) {
  std::array<double, kSidesAtOnce> rss, freedom;
  if (one_at_a_time()) {
    for (index_t i = 0; i < n; ++i) {
      const SideFit fit = fit_large_side(systems_, sides[i]);
      rss[i] = fit.rss;
      freedom[i] = fit.freedom;
    }
  } else {
    side_kernels().fit_sides(systems_, sides, n, scratch_.data(), rss.data(), freedom.data());
  }
  const index_t of_weight =
      systems_.sums_row * systems_.width + systems_.n_features + systems_.n_outputs;
  for (index_t i = 0; i < n; ++i) {
    const double left = sides[i].left[of_weight];
    const double weight = sides[i].is_right ? systems_.whole[of_weight] - left : left;
    const double rest = std::max(1.0 - freedom[i] * mean_weight_ / weight, kLeastFreedom);
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
