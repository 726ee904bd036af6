#include "oblique/split_search/curvature.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel.hpp"
#include "ridge/factors.hpp"
#include "ridge/symmetric_eigen.hpp"

namespace fctree::oblique {

namespace {

// Share of the mean variance added to each feature's, so that a singular covariance can be
// inverted: directions without variation stay weak.
constexpr double kJitter = 1e-6;

// U^-T H U^-1, by columns and then by rows, some at a time.
void whiten(const CholeskyFactor<Eigen::Upper>& factor, Matrix& hessian) {
  constexpr index_t kStep = 64;
  const index_t d = hessian.rows();
  const index_t step = d <= 512 ? d : kStep;
  for (index_t begin = 0; begin < d; begin += step) {
    check_interrupt();
    auto columns = hessian.middleCols(begin, std::min(step, d - begin));
    factor.matrixU().transpose().solveInPlace(columns);
  }
  for (index_t begin = 0; begin < d; begin += step) {
    check_interrupt();
    auto rows = hessian.middleRows(begin, std::min(step, d - begin));
    factor.matrixU().solveInPlace<Eigen::OnTheRight>(rows);
  }
}

}  // namespace

CurvatureProblem curvature_problem(const Moments& moments,
                                   const std::vector<Matrix>& residual_scatter) {
  CurvatureProblem problem;
  problem.covariance = moments.scatter.selfadjointView<Eigen::Upper>();
  problem.covariance /= moments.weight;
  const double mean_variance =
      problem.covariance.trace() / static_cast<double>(moments.cross.rows());
  problem.covariance.diagonal().array() += kJitter * mean_variance;
  for (const Matrix& scatter : residual_scatter) {
    problem.hessians.push_back(scatter.selfadjointView<Eigen::Upper>());
    problem.hessians.back() /= moments.weight;
  }
  return problem;
}

Matrix curvature_directions(const CurvatureProblem& problem, index_t n_directions) {
  const index_t d = problem.covariance.rows();
  if (!(problem.covariance.trace() > 0.0)) return Matrix(d, 0);
  const CholeskyFactor<Eigen::Upper> factor(problem.covariance);  // C = U'U
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
  Matrix directions(d, n_directions);
  index_t n_found = 0;
  for (index_t i = 0; i < n_directions; ++i) {
    if (!(strength[order[i]] > 0.0)) break;
    Vector direction = factor.matrixU().solve(eigen.vectors.col(order[i]));
    // The sign of an eigenvector is arbitrary: the largest coefficient is made positive.
    index_t largest = 0;
    direction.cwiseAbs().maxCoeff(&largest);
    if (direction[largest] < 0.0) direction = -direction;
    directions.col(n_found++) = direction.normalized();
  }
  return directions.leftCols(n_found);
}

}  // namespace fctree::oblique
