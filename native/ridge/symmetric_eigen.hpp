// Eigenvalues and eigenvectors of a symmetric matrix, by Householder's reflections and implicit QR
// steps (Golub and Van Loan, section 8.3) that an interrupt can end.
#pragma once

#include "core/matrix.hpp"

namespace fctree::ridge {

struct SymmetricEigen {
  Vector values;   // ascending
  Matrix vectors;  // a column each, of length 1
  bool converged;
};

// Of a matrix given whole. O(d^3).
SymmetricEigen symmetric_eigen(const Matrix& matrix);

// Makes columns of length one with a positive largest coefficient: an eigenvector's sign is arbitrary.
void orient(Matrix& directions);

}  // namespace fctree::ridge
