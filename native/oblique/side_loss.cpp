#include "oblique/side_loss.hpp"

#include <algorithm>
#include <limits>

#include "oblique/dense.hpp"
#include "oblique/spd.hpp"

namespace fctree {

namespace {

// Least value of 1 - df / n: a model with as many numbers as samples has no estimate.
constexpr double kLeastFreedom = 0.02;

double symmetric_form(const RowMatrix& products, index_t d, const double* w) {
  double total = 0.0;
  for (index_t i = 0; i < d; ++i) {
    const double* row = products.data() + i * products.cols();
    double sum = 0.5 * row[i] * w[i];
    for (index_t j = i + 1; j < d; ++j) sum += row[j] * w[j];
    total += 2.0 * w[i] * sum;
  }
  return total;
}

}  // namespace

SideScratch::SideScratch(index_t d)
    : system(d * spd_stride(d)), inverse(d * spd_stride(d)), vectors(4 * spd_stride(d)) {}

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

double side_loss(const ChildModels& models, const RowMatrix& products, SideScratch& scratch) {
  const index_t d = models.n_features;
  const index_t stride = spd_stride(d);
  const index_t width = products.cols();
  const index_t one = d + models.n_outputs;
  const double weight = products(one, one);
  const double total = weight + models.prior(one, one);
  const double centring = models.fit_intercept ? 1.0 / total : 0.0;
  double* sums = scratch.vectors.data();  // of x, of samples and prior
  double* rhs = sums + stride;
  double* half = rhs + stride;
  double* w = half + stride;
  for (index_t j = 0; j < d; ++j) sums[j] = products(j, one) + models.prior(j, one);
  for (index_t i = 0; i < d; ++i) {
    const double* real = products.data() + i * width;
    const double* base = models.base.data() + i * stride;
    const double scaled = centring * sums[i];
    double* row = scratch.system.data() + i * stride;
    for (index_t j = i; j < d; ++j) row[j] = base[j] + real[j] - scaled * sums[j];
  }
  if (!spd_kernels().invert_factor(scratch.system.data(), d, scratch.inverse.data()))
    return std::numeric_limits<double>::infinity();

  double rss = 0.0;
  for (index_t k = d; k < one; ++k) {
    const double target_sum = products(k, one) + models.prior(k, one);
    for (index_t j = 0; j < d; ++j)
      rhs[j] = products(j, k) + models.prior(j, k) - centring * sums[j] * target_sum;
    spd_kernels().multiply_transposed(scratch.inverse.data(), rhs, d, half);
    spd_kernels().multiply(scratch.inverse.data(), half, d, w);
    double along = 0.0, cross = 0.0, along_real = 0.0;
    for (index_t j = 0; j < d; ++j) {
      along += w[j] * sums[j];
      along_real += w[j] * products(j, one);
      cross += w[j] * products(j, k);
    }
    const double intercept = centring * (target_sum - along);
    rss += products(k, k) + symmetric_form(products, d, w) - 2.0 * cross +
           intercept * (intercept * weight - 2.0 * products(k, one) + 2.0 * along_real);
  }

  // Leverages about the pooled mean: tr(A^{-1} sum (x - mean)(x - mean)') and the mean's own.
  double freedom = spd_kernels().trace_of_product(scratch.inverse.data(), products.data(), width, d);
  if (models.fit_intercept) {
    // With mean = sums / total: sum (x - mean)(x - mean)' = sum x x' - s m' - m s' + W m m'.
    for (index_t j = 0; j < d; ++j) rhs[j] = products(j, one);
    spd_kernels().multiply_transposed(scratch.inverse.data(), rhs, d, half);
    spd_kernels().multiply_transposed(scratch.inverse.data(), sums, d, w);
    double mixed = 0.0, square = 0.0;
    for (index_t j = 0; j < d; ++j) {
      mixed += half[j] * w[j];
      square += w[j] * w[j];
    }
    freedom += weight / total - 2.0 * mixed / total + weight * square / (total * total);
  }
  const double rest = std::max(1.0 - freedom / weight, kLeastFreedom);
  return std::max(rss, 0.0) / (rest * rest);
}

}  // namespace fctree
