#include "oblique/split_search/curvature.hpp"

#include <algorithm>
#include <numeric>

#include "ridge/factors.hpp"
#include "ridge/symmetric_eigen.hpp"

namespace fctree::oblique {

namespace {

// L^-1 H L'^-1 of a symmetric H.
void whiten(const CholeskyFactor& factor, Matrix& hessian) {
  factor.solve_lower(hessian);
  hessian.transposeInPlace();
  factor.solve_lower(hessian);
}

// Whether the feature is constant in the node, or nothing else: rounding must not use it.
bool is_alone(const CurvatureProblem& problem, index_t feature) {
  const auto covariance = problem.covariance.col(feature);
  return covariance.cwiseAbs().sum() == covariance[feature] &&
         std::all_of(problem.hessians.begin(), problem.hessians.end(),
                     [&](const Matrix& hessian) { return hessian.col(feature).isZero(0.0); });
}

}  // namespace

CurvatureProblem curvature_problem(const Moments& moments,
                                   const std::vector<Matrix>& residual_scatter) {
  CurvatureProblem problem;
  problem.covariance = covariance_of(moments);
  for (const Matrix& scatter : residual_scatter) {
    problem.hessians.push_back(scatter.selfadjointView<Eigen::Upper>());
    problem.hessians.back() /= moments.weight;
  }
  return problem;
}

Matrix curvature_directions(const CurvatureProblem& problem, index_t n_directions) {
  const index_t d = problem.covariance.rows();
  if (!(problem.covariance.trace() > 0.0)) return Matrix(d, 0);
  const CholeskyFactor factor(problem.covariance);  // C = L L'
  Matrix hessian = Matrix::Zero(d, d);
  for (Matrix whitened : problem.hessians) {
    whiten(factor, whitened);
    if (problem.hessians.size() == 1)
      hessian = whitened;
    else
      hessian += gram_of(whitened);
  }
  const SymmetricEigen eigen = symmetric_eigen(hessian);
  if (!eigen.converged) return Matrix(d, 0);
  const Vector strength = eigen.values.cwiseAbs();
  std::vector<index_t> order(d);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](index_t a, index_t b) { return strength[a] > strength[b]; });
  n_directions = std::min(n_directions, d);
  index_t n_found = 0;
  while (n_found < n_directions && strength[order[n_found]] > 0.0) ++n_found;
  order.resize(n_found);
  Matrix directions = eigen.vectors(Eigen::all, order);
  factor.solve_upper(directions);
  for (index_t j = 0; j < d; ++j)
    if (is_alone(problem, j)) directions.row(j).setZero();
  orient(directions);
  return directions;
}

}  // namespace fctree::oblique
