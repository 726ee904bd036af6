#include "ridge/reduced_rank.hpp"

#include <algorithm>

#include "ridge/factors.hpp"
#include "ridge/symmetric_eigen.hpp"

namespace fctree::ridge {

Matrix principal_directions(const Moments& moments, const Matrix& coef, index_t most) {
  constexpr double kNegligible = 1e-9;  // variance of fitted outputs, of the largest: it may be rounding
  const Matrix covariance = covariance_of(moments);
  if (!(covariance.trace() > 0.0)) return Matrix(coef.rows(), 0);
  const Matrix fitted = CholeskyFactor(covariance).upper_times(coef);  // L'B
  const SymmetricEigen eigen = symmetric_eigen(gram_of(fitted));
  const index_t n = std::min({most, coef.rows(), coef.cols()});
  const auto strengths = eigen.values.tail(n).array();
  const index_t n_found = eigen.converged ? (strengths > kNegligible * strengths.maxCoeff()).count() : 0;
  const Matrix leading = eigen.vectors.rightCols(n_found).rowwise().reverse();
  Matrix directions = product_of(coef, transposed_product(fitted, leading));
  orient(directions);
  return directions;
}

}  // namespace fctree::ridge
