// The ridge directions: the coefficients of the node's own fit, of each output (FC-ODT, step 1).
//
// Of more than eight outputs, by the ridge criterion, they are the principal ones, at most eight. With C the
// covariance of the features and B the coefficients (d, K), B'CB is the covariance of the fitted outputs, and B v for its
// leading eigenvectors v are the directions along which these vary most (reduced-rank regression, Izenman
// 1975). They are found from those of L'BB'L, C = LL'.
#include <algorithm>

#include "core/parallel.hpp"
#include "oblique/split_search/directions.hpp"
#include "oblique/split_search/sparse_direction.hpp"
#include "ridge/factors.hpp"
#include "ridge/symmetric_eigen.hpp"

namespace fctree::oblique {

namespace {

constexpr double kNegligible = 1e-9;  // variance of fitted outputs, of the largest: it may be rounding

Matrix principal_directions(const Moments& moments, const Matrix& coef) {
  const Matrix covariance = covariance_of(moments);
  if (!(covariance.trace() > 0.0)) return Matrix(coef.rows(), 0);
  const Matrix fitted = CholeskyFactor(covariance).upper_times(coef);  // L'B
  const SymmetricEigen eigen = symmetric_eigen(gram_of(fitted));
  const index_t n = std::min(kMostRidgeDirections, coef.rows());
  const auto strengths = eigen.values.tail(n).array();
  const index_t n_found = eigen.converged ? (strengths > kNegligible * strengths.maxCoeff()).count() : 0;
  const Matrix leading = eigen.vectors.rightCols(n_found).rowwise().reverse();
  Matrix directions = product_of(coef, transposed_product(fitted, leading));
  orient(directions);
  return directions;
}

class RidgeDirections : public DirectionSearch {
 public:
  using DirectionSearch::DirectionSearch;
  void find() override {
    if (!state_.has_principal_directions() || state_.draws_features()) return;
    parallel_for(state_.execution, static_cast<index_t>(nodes_.size()), [&](index_t i) {
      found(i) = principal_directions(node(i).moments, node(i).fit.coef);
    });
  }
  void restrict_to_drawn(index_t i) override {
    if (!state_.has_principal_directions()) return;
    sparsify_ridge(state_, node(i));
    found(i) = principal_directions(node(i).moments, node(i).sparse_ridge.coef);
  }
  void propose(index_t i) override {
    if (state_.has_principal_directions()) return DirectionSearch::propose(i);
    for (index_t k = 0; k < state_.data.n_outputs; ++k) add_candidate(i, k);
  }
  void sparsify(index_t i) override {
    if (!state_.has_principal_directions()) sparsify_ridge(state_, node(i));
  }
};

}  // namespace

std::unique_ptr<DirectionSearch> search_ridge_directions(const GrowState& state, SplitKind kind,
                                                         const std::vector<OpenNode*>& nodes) {
  return std::make_unique<RidgeDirections>(state, kind, nodes);
}

}  // namespace fctree::oblique
