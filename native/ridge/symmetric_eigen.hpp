// Eigenvalues and eigenvectors of a symmetric matrix: compiled once, for Eigen's solver takes a
// compiler longer than any other part of the core.
#pragma once

#include "core/matrix.hpp"

namespace fctree::ridge {

struct SymmetricEigen {
  Vector values;   // ascending
  Matrix vectors;  // a column each, of length 1
  bool converged;
};

// Reads the lower triangle. O(d^3); an interrupt can end it.
SymmetricEigen symmetric_eigen(const Matrix& matrix);

}  // namespace fctree::ridge
