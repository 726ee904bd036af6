// Factorisations and products of large matrices that an interrupt can end: Eigen's own run for
// minutes where a matrix has thousands of columns. Small ones are Eigen's.
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
};

// inverse = U^{-1}, A = U'U by its upper triangle, as SpdKernels::invert_factor (spd.hpp) and for
// any size. A is destroyed. False if it is not positive definite. O(d^3 / 3).
bool invert_factor(RowMatrix& a, RowMatrix& inverse);

// a b and x x', some rows at a time where they are large.
Matrix product_of(const Matrix& a, const Matrix& b);
Matrix gram_of(const Matrix& x);

}  // namespace fctree::ridge
