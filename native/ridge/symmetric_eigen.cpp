#include "ridge/symmetric_eigen.hpp"

#include <Eigen/Eigenvalues>

namespace fctree::ridge {

SymmetricEigen symmetric_eigen(const Matrix& matrix) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors(), solver.info() == Eigen::Success};
}

}  // namespace fctree::ridge
