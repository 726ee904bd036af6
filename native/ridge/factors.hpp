// Factorisations and products of matrices by the kernels of ridge/matrix_product.hpp. Eigen's are compiled for the
// baseline instruction set only, and do not look for an interrupt, for minutes where a matrix has thousands of columns.
// Small ones are Eigen's.
#pragma once

#include <Eigen/Cholesky>

#include "core/matrix.hpp"

namespace fctree::ridge {

// The Cholesky factor of a symmetric matrix A = L L', O(n^3 / 3).
class CholeskyFactor : Eigen::LLT<Matrix> {
 public:
  explicit CholeskyFactor(const Matrix& matrix);  // of which the lower triangle is read
  bool is_definite() const;                       // positive; else nothing below has a meaning
  double reciprocal_condition() const;            // estimated
  Matrix solve(Matrix rhs) const;                 // A^-1 rhs
  void solve_lower(Matrix& rhs) const;            // L^-1 rhs, in place
  void solve_upper(Matrix& rhs) const;            // L'^-1 rhs, in place
  Matrix upper_times(const Matrix& rhs) const;    // L' rhs
};

// inverse = U^{-1}, A = U'U by its upper triangle, as SpdKernels::invert_factor (spd.hpp) and for
// any size. A is destroyed. False if it is not positive definite.
bool invert_factor(RowMatrix& a, RowMatrix& inverse);

// a b, a' b and x x', some rows at a time where they are large.
Matrix product_of(const Matrix& a, const Matrix& b);
Matrix transposed_product(const Matrix& a, const Matrix& b);
Matrix gram_of(const Matrix& x);

}  // namespace fctree::ridge
