// The directions along which the fitted outputs of a linear model vary most (reduced-rank regression, Izenman 1975).
//
// With C the covariance of the features and B the coefficients (d, K), B'CB is the covariance of the fitted outputs: the
// directions are B v for its leading eigenvectors v, found from those of L'BB'L, C = LL'.
#pragma once

#include "core/matrix.hpp"
#include "ridge/moments.hpp"

namespace fctree::ridge {

// At most so many columns (d, .) of length one, the strongest first; none if nothing varies. O(d^3 + d^2 K).
Matrix principal_directions(const Moments& moments, const Matrix& coef, index_t most);

}  // namespace fctree::ridge
