#include "ridge/ridge.hpp"

#include <cmath>
#include <limits>

#include "core/parallel.hpp"
#include "ridge/factors.hpp"
#include "ridge/symmetric_eigen.hpp"

namespace fctree::ridge {

namespace {

// The least-norm solution of a positive semi-definite system, in the norm w' penalty w.
// Columns are scaled to a unit diagonal first, so that the rank does not depend on units;
// then the null space is projected out of a particular solution.
Matrix solve_singular(const Matrix& scaled, const Vector& scale, const Matrix& rhs,
                      const Matrix& penalty, double tolerance) {
  const SymmetricEigen eigen = symmetric_eigen(scaled);
  const Vector& values = eigen.values;  // ascending
  const index_t d = values.size();
  const double smallest = tolerance * std::max(values[d - 1], 0.0);
  index_t n_null = 0;
  while (n_null < d && values[n_null] <= smallest) ++n_null;
  const Matrix range = eigen.vectors.rightCols(d - n_null);
  const Matrix scaled_rhs = scale.asDiagonal() * rhs;
  const Matrix along = values.tail(d - n_null).cwiseInverse().asDiagonal() *
                       transposed_product(range, scaled_rhs);
  Matrix solution = scale.asDiagonal() * product_of(range, along);
  if (n_null == 0) return solution;
  // Of any length: relative to the largest scale its squares do not overflow.
  const Matrix null_space = (scale / scale.maxCoeff()).asDiagonal() * eigen.vectors.leftCols(n_null);
  const Matrix weighted = product_of(penalty, null_space);
  const CholeskyFactor capacity(transposed_product(null_space, weighted));
  solution -= product_of(null_space, capacity.solve(transposed_product(weighted, solution)));
  return solution;
}

// Solves system * w = rhs, system symmetric positive semi-definite (upper triangle given)
// and known to the relative precision `noise`.
Matrix solve_semidefinite(Matrix system, const Matrix& rhs, const Matrix& penalty, double noise) {
  const index_t d = system.rows();
  Vector scale(d);
  for (index_t j = 0; j < d; ++j) {
    const double diagonal = system(j, j);
    scale[j] = diagonal > 0.0 ? 1.0 / std::sqrt(diagonal) : 1.0;
  }
  system = scale.asDiagonal() * system * scale.asDiagonal();
  const Matrix scaled_rhs = scale.asDiagonal() * rhs;
  const CholeskyFactor factor(system.transpose());
  const double tolerance = 16.0 * static_cast<double>(d) * noise;
  if (factor.is_definite() && factor.reciprocal_condition() > tolerance)
    return scale.asDiagonal() * factor.solve(scaled_rhs);
  system = system.selfadjointView<Eigen::Upper>();
  return solve_singular(system, scale, rhs, penalty, tolerance);
}

// The same for a system built from the samples themselves, by pseudo-inverse.
Matrix pseudo_solve(const Matrix& gram, const Matrix& rhs) {
  const CholeskyFactor factor(gram);
  const double cutoff =
      16.0 * static_cast<double>(gram.rows()) * std::numeric_limits<double>::epsilon();
  if (factor.is_definite() && factor.reciprocal_condition() > cutoff) return factor.solve(rhs);
  const SymmetricEigen eigen = symmetric_eigen(gram);
  const Vector& values = eigen.values;
  const double smallest = cutoff * std::max(values[values.size() - 1], 0.0);
  const Vector inverse = (values.array() > smallest).select(values.cwiseInverse(), 0.0);
  return product_of(eigen.vectors, inverse.asDiagonal() * transposed_product(eigen.vectors, rhs));
}

}  // namespace

Vector intercept_of(const Matrix& coef, const Moments& moments, const Vector& origin,
                    bool fit_intercept) {
  const index_t d = coef.rows();
  if (!fit_intercept) return Vector::Zero(coef.cols());
  const Vector mean = moments.mean + origin;
  return mean.tail(coef.cols()) - coef.transpose() * mean.head(d);
}

// The smaller one of the two systems, where it matters.
Matrix penalty_matrix(const Matrix& ancestors) {
  constexpr index_t kMany = 256;
  const index_t d = ancestors.rows();
  if (ancestors.cols() <= std::max(kMany, d)) return penalty_matrix(ancestors, ancestors);
  const Matrix unit = Matrix::Identity(d, d);
  return CholeskyFactor(unit + gram_of(ancestors)).solve(unit);
}

// By Woodbury: I - W (I + W'W)^{-1} W'.
Matrix penalty_matrix(const Matrix& ancestors, const Matrix& rows) {
  const index_t d = rows.rows();
  const index_t k = ancestors.cols();
  Matrix penalty = Matrix::Identity(d, d);
  if (k == 0) return penalty;
  const Matrix capacity = Matrix::Identity(k, k) + transposed_product(ancestors, ancestors);
  penalty -= product_of(rows, CholeskyFactor(capacity).solve(rows.transpose()));
  return penalty;
}

NormalEquations normal_equations(const Moments& moments, const Vector& origin,
                                 bool fit_intercept) {
  const index_t d = moments.cross.rows();
  NormalEquations equations;
  equations.scatter = moments.scatter.selfadjointView<Eigen::Upper>();
  equations.cross = moments.cross;
  if (!fit_intercept) {
    const Vector mean = moments.mean + origin;
    equations.scatter += moments.weight * mean.head(d) * mean.head(d).transpose();
    equations.cross +=
        moments.weight * mean.head(d) * mean.tail(moments.cross.cols()).transpose();
  }
  return equations;
}

Matrix solve_ridge(const Matrix& scatter, const Matrix& rhs, const Matrix& penalty, double alpha,
                   double noise) {
  Matrix system = scatter;
  if (alpha > 0.0) system += alpha * penalty;
  return solve_semidefinite(std::move(system), rhs, penalty, noise);
}

RidgeFit fit_ridge(const Moments& moments, const Matrix& ancestors, const Vector& origin,
                   const RidgeOptions& options) {
  const auto [scatter, cross] = normal_equations(moments, origin, options.fit_intercept);
  RidgeFit fit;
  fit.coef = solve_ridge(scatter, cross, penalty_matrix(ancestors), options.alpha,
                         rounding_noise(moments));
  fit.intercept = intercept_of(fit.coef, moments, origin, options.fit_intercept);
  fit.reduction =
      (2.0 * cross - product_of(scatter, fit.coef)).cwiseProduct(fit.coef).colwise().sum().transpose();
  return fit;
}

CentredRows centred_rows(const TrainingData& data, const NodeRows& node, const Moments& moments,
                         const Vector& origin, bool fit_intercept) {
  const index_t d = data.n_features;
  // Relative to the origin, as the mean is: so copies of one point are exactly at their mean.
  Vector shift = Vector::Zero(d + data.n_outputs);
  Vector mean = shift;
  if (fit_intercept) {
    shift = origin;
    mean = moments.mean;
  }
  CentredRows centred = {Matrix(node.size, d), Matrix(node.size, data.n_outputs)};
  for (index_t i = 0; i < node.size; ++i) {
    if (i % 64 == 0) check_interrupt();
    const index_t row = node.rows[i];
    const double root = std::sqrt(data.weight_of(row));
    const VectorView x(data.x + row * d, d);
    const VectorView y(data.y + row * data.n_outputs, data.n_outputs);
    centred.x.row(i) = root * ((x - shift.head(d)) - mean.head(d)).transpose();
    centred.y.row(i) = root * ((y - shift.tail(y.size())) - mean.tail(y.size())).transpose();
  }
  return centred;
}

RidgeFit fit_ridge_dual(const TrainingData& data, const NodeRows& node, const Moments& moments,
                        const Matrix& ancestors, const Vector& origin,
                        const RidgeOptions& options) {
  const auto [x, y] = centred_rows(data, node, moments, origin, options.fit_intercept);
  const Matrix projected = product_of(x, ancestors);  // (n, k)
  Matrix gram = gram_of(x) + gram_of(projected);
  gram.diagonal().array() += options.alpha;
  const Matrix dual = pseudo_solve(gram, y);
  RidgeFit fit;
  fit.coef = transposed_product(x, dual) +
             product_of(ancestors, transposed_product(projected, dual));
  fit.intercept = intercept_of(fit.coef, moments, origin, options.fit_intercept);
  const Matrix fitted = product_of(x, fit.coef);
  fit.reduction = (2.0 * y - fitted).cwiseProduct(fitted).colwise().sum().transpose();
  return fit;
}

}  // namespace fctree::ridge
