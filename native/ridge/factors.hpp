// Factorisations and products of large matrices that an interrupt can end: Eigen's own run for
// minutes where a matrix has thousands of columns. Small ones are Eigen's, compiled here once for all
// who use them.
#pragma once

#include <Eigen/Cholesky>

#include "core/matrix.hpp"

namespace fctree::ridge {

// The Cholesky factor of a symmetric matrix of which the given triangle is read: Eigen's object,
// computed block by block. O(n^3 / 3).
template <int Triangle>
class CholeskyFactor : public Eigen::LLT<Matrix, Triangle> {
 public:
  explicit CholeskyFactor(const Matrix& matrix);

  Matrix solve(const Matrix& rhs) const;
  // An estimate of the reciprocal of the condition number.
  double rcond() const;
};

// a b and x x', some rows at a time where they are large; a' b.
Matrix product_of(const Matrix& a, const Matrix& b);
Matrix transposed_product(const Matrix& a, const Matrix& b);
Matrix gram_of(const Matrix& x);

}  // namespace fctree::ridge
