#include "oblique/split_search/sparse_direction.hpp"

#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "oblique/node_statistics.hpp"
#include "ridge/factors.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kLeavingShare = 8;

Features nonzeros(const Vector& direction) {
  Features found;
  for (index_t j = 0; j < direction.size(); ++j)
    if (direction[j] != 0.0) found.push_back(j);
  return found;
}

// The features without the n_leaving least important ones; among those equal up to rounding, such
// as duplicated columns, the last is dropped first.
Features without_least(const Features& features, Vector importance, index_t n_leaving) {
  const double gone = std::numeric_limits<double>::infinity();
  for (; n_leaving > 0; --n_leaving) {
    if (n_leaving % 64 == 0) check_interrupt();
    index_t least = 0;
    for (index_t i = 1; i < importance.size(); ++i)
      if (importance[i] < gone && importance[i] <= importance[least] * (1.0 + 1e-10)) least = i;
    importance[least] = gone;
  }
  Features kept;
  for (index_t i = 0; i < importance.size(); ++i)
    if (importance[i] < gone) kept.push_back(features[i]);
  return kept;
}

// size (d): the variance of each feature, in any unit.
Vector importance_of(const Vector& direction, const Vector& size, const Features& features) {
  return direction(features).cwiseAbs2().cwiseProduct(size(features));
}

}  // namespace

void put(const Features& features, const Vector& values, Eigen::Ref<Vector> direction) {
  direction.setZero();
  for (std::size_t i = 0; i < features.size(); ++i) direction[features[i]] = values[i];
}

Vector eliminate(Vector direction, const Vector& size, index_t max_coef,
                 const std::function<Vector(const Features&, const Vector&)>& solve) {
  for (Features features = nonzeros(direction);;) {
    const index_t count = static_cast<index_t>(features.size());
    if (count <= max_coef) return direction;
    const index_t n_leaving =
        std::min(count - max_coef, std::max<index_t>(1, count / kLeavingShare));
    features = without_least(features, importance_of(direction, size, features), n_leaving);
    const Vector solved = solve(features, direction);
    put(features, solved, direction);
  }
}

namespace {

struct RidgeProblem {
  NormalEquations equations;
  Matrix penalty;
  double alpha;
  double noise;
};

Vector solve_on(const RidgeProblem& problem, const Features& kept, index_t output) {
  const auto& [scatter, cross] = problem.equations;
  return solve_ridge(scatter(kept, kept), cross(kept, output), problem.penalty(kept, kept),
                     problem.alpha, problem.noise);
}

Vector sparse_ridge(const RidgeProblem& problem, const Vector& direction, index_t output,
                    index_t max_coef) {
  return eliminate(
      direction, problem.equations.scatter.diagonal(), max_coef,
      [&](const Features& kept, const Vector&) { return solve_on(problem, kept, output); });
}

// The ridge with coefficients of all other features held at zero.
Vector ridge_on_drawn(const RidgeProblem& problem, const OpenNode& node, index_t output) {
  Vector direction = node.fit.coef.col(output);
  if (!node.features.empty())
    put(node.features, solve_on(problem, node.features, output), direction);
  return direction;
}

Matrix sparse_ridge_primal(const GrowState& state, const OpenNode& node) {
  const Moments pooled = pool_moments(node.moments, node.prior);
  const RidgeProblem problem = {
      normal_equations(pooled, state.origin, state.params.fit_intercept),
      penalty_matrix(node.ancestors), state.params.alpha, rounding_noise(pooled)};
  Matrix coef(node.fit.coef.rows(), node.fit.coef.cols());
  for (index_t k = 0; k < coef.cols(); ++k)
    coef.col(k) = sparse_ridge(problem, ridge_on_drawn(problem, node, k), k, state.params.max_coef);
  return coef;
}

// With fewer samples than features: first only as many features as samples are kept, before
// moments exist.
Matrix sparse_ridge_dual(const GrowState& state, const OpenNode& node) {
  const CentredRows rows = centred_rows(state.data, state.statistics->few_rows(state, node), node.moments,
                                        state.origin, state.params.fit_intercept);
  const Vector size = rows.x.colwise().squaredNorm();
  const index_t most = std::max(state.params.max_coef, node.size);
  Matrix coef(node.fit.coef.rows(), node.fit.coef.cols());
  for (index_t k = 0; k < coef.cols(); ++k) {
    const Vector direction = node.fit.coef.col(k);
    Features kept = node.features.empty() ? nonzeros(direction) : node.features;
    const index_t n_leaving = std::max<index_t>(static_cast<index_t>(kept.size()) - most, 0);
    kept = without_least(kept, importance_of(direction, size, kept), n_leaving);
    const Matrix x = rows.x(Eigen::all, kept);
    const RidgeProblem problem = {{transposed_product(x, x), transposed_product(x, rows.y)},
                                  penalty_matrix(node.ancestors, node.ancestors(kept, Eigen::all)),
                                  state.params.alpha,
                                  std::numeric_limits<double>::epsilon()};
    const bool solves = n_leaving > 0 || !node.features.empty();
    const Vector on_kept = solves ? solve_on(problem, all_columns(x.cols()), k) : Vector(direction(kept));
    put(kept, sparse_ridge(problem, on_kept, k, state.params.max_coef), coef.col(k));
  }
  return coef;
}

}  // namespace

void sparsify_ridge(const GrowState& state, OpenNode& node) {
  node.sparse_ridge.coef =
      state.is_dual(node) ? sparse_ridge_dual(state, node) : sparse_ridge_primal(state, node);
  node.sparse_ridge.intercept =
      intercept_of(node.sparse_ridge.coef, pool_moments(node.moments, node.prior), state.origin,
                   state.params.fit_intercept);
}

}  // namespace fctree::oblique
