// Curvature directions (curvature.hpp) as candidates of a level.
#include "oblique/node_statistics.hpp"
#include "oblique/split_search/curvature.hpp"
#include "oblique/split_search/directions.hpp"
#include "oblique/split_search/sparse_direction.hpp"

namespace fctree::oblique {

namespace {

CurvatureProblem problem_on(const CurvatureProblem& problem, const Features& kept) {
  CurvatureProblem of_kept = {problem.covariance(kept, kept), {}};
  for (const Matrix& hessian : problem.hessians) of_kept.hessians.push_back(hessian(kept, kept));
  return of_kept;
}

// The curvature directions of some features, at most as many as of all.
Matrix curvature_on(const CurvatureProblem& problem, const Features& features, index_t n_wanted) {
  const Matrix found = curvature_directions(problem_on(problem, features), n_wanted);
  Matrix directions(problem.covariance.rows(), found.cols());
  for (index_t c = 0; c < found.cols(); ++c) put(features, found.col(c), directions.col(c));
  return directions;
}

// A curvature direction of at most max_coef features, O(d^3): that of the kept features whose score
// correlates most with that of the previous direction, so that two directions of a saddle stay two.
Vector sparse_curvature(const CurvatureProblem& problem, const Vector& direction,
                        index_t max_coef) {
  return eliminate(
      direction, problem.covariance.diagonal(), max_coef,
      [&](const Features& kept, const Vector& previous) -> Vector {
        const CurvatureProblem of_kept = problem_on(problem, kept);
        const Matrix found = curvature_directions(of_kept, static_cast<index_t>(kept.size()));
        if (found.cols() == 0) return previous(kept);  // nothing bends along these features
        const Vector covariance = (problem.covariance * previous)(kept);
        index_t closest = 0;
        double most = 0.0;  // squared correlation, times the variance along `previous`
        for (index_t c = 0; c < found.cols(); ++c) {
          const double along = covariance.dot(found.col(c));
          const double share = along * along / found.col(c).dot(of_kept.covariance * found.col(c));
          if (share > most * (1.0 + 1e-10)) {
            most = share;
            closest = c;
          }
        }
        return found.col(closest);
      });
}

class CurvatureDirections : public DirectionSearch {
 public:
  CurvatureDirections(const GrowState& state, SplitKind kind, const std::vector<OpenNode*>& nodes)
      : DirectionSearch(state, kind, nodes), problems_(nodes.size()) {}

  // The problems are kept where sparse directions are wanted.
  void find() override {
    std::vector<OpenNode*> with_moments;
    std::vector<index_t> numbers;
    for (index_t i = 0; i < static_cast<index_t>(nodes_.size()); ++i) {
      if (state_.is_dual(node(i))) continue;
      with_moments.push_back(&node(i));
      numbers.push_back(i);
    }
    const auto scatter = state_.statistics->residual_scatter(state_, with_moments);
    parallel_for(state_.execution, static_cast<index_t>(numbers.size()), [&](index_t at) {
      const index_t i = numbers[at];
      problems_[i] = curvature_problem(node(i).moments, scatter[at]);
      found(i) = curvature_directions(problems_[i], state_.params.n_curvature);
      if (!state_.has_sparse_directions()) problems_[i] = CurvatureProblem();
    });
  }
  void restrict_to_drawn(index_t i) override {
    if (found(i).cols() > 0)
      found(i) = curvature_on(problems_[i], node(i).features, found(i).cols());
  }
  void sparsify(index_t i) override {
    for (index_t c = 0; c < found(i).cols(); ++c)
      found(i).col(c) = sparse_curvature(problems_[i], found(i).col(c), state_.params.max_coef);
  }

 private:
  std::vector<CurvatureProblem> problems_;
};

}  // namespace

std::unique_ptr<DirectionSearch> search_curvature_directions(
    const GrowState& state, SplitKind kind, const std::vector<OpenNode*>& nodes) {
  return std::make_unique<CurvatureDirections>(state, kind, nodes);
}

}  // namespace fctree::oblique
