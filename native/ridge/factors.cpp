#include "ridge/factors.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "ridge/spd.hpp"

namespace fctree::ridge {

namespace {

constexpr index_t kSmall = 512;  // Eigen takes a fraction of a second up to here
constexpr index_t kBlock = 128;
constexpr double kStepWork = 2e8;  // multiply-adds between two looks for an interrupt

// The lower factor in place of the lower triangle; false where the matrix is not positive
// definite. Left to right by blocks of columns, as in LAPACK's potrf.
template <class Lower>
bool factor_by_blocks(Lower&& matrix) {
  const index_t n = matrix.rows();
  for (index_t k = 0; k < n; k += kBlock) {
    const index_t size = std::min(kBlock, n - k), rest = n - k - size;
    check_interrupt();
    Matrix corner = matrix.block(k, k, size, size);
    const Eigen::LLT<Eigen::Ref<Matrix>> factor(corner);
    if (factor.info() != Eigen::Success) return false;
    matrix.block(k, k, size, size).template triangularView<Eigen::Lower>() = corner;
    if (rest == 0) break;
    auto below = matrix.block(k + size, k, rest, size);
    corner.adjoint().template triangularView<Eigen::Upper>()
        .template solveInPlace<Eigen::OnTheRight>(below);
    for (index_t j = 0; j < rest; j += kBlock) {
      const index_t width = std::min(kBlock, rest - j);
      check_interrupt();
      matrix.block(k + size + j, k + size + j, rest - j, width).noalias() -=
          below.bottomRows(rest - j) * below.middleRows(j, width).transpose();
    }
  }
  return true;
}

}  // namespace

template <int Triangle>
CholeskyFactor<Triangle>::CholeskyFactor(const Matrix& matrix) {
  const index_t n = matrix.rows();
  if (n <= kSmall) {
    this->compute(matrix);
    return;
  }
  const Matrix full = matrix.selfadjointView<Triangle>();
  this->m_l1_norm = full.cwiseAbs().colwise().sum().maxCoeff();
  this->m_matrix = matrix;
  this->m_isInitialized = true;
  const bool positive = Triangle == Eigen::Lower ? factor_by_blocks(this->m_matrix)
                                                 : factor_by_blocks(this->m_matrix.transpose());
  this->m_info = positive ? Eigen::Success : Eigen::NumericalIssue;
}

template class CholeskyFactor<Eigen::Lower>;
template class CholeskyFactor<Eigen::Upper>;

bool invert_factor(RowMatrix& a, RowMatrix& inverse) {
  const index_t d = a.rows();
  if (d <= kSmall) return spd_kernels().invert_factor(a.data(), d, inverse.data());
  const CholeskyFactor<Eigen::Upper> factor(a.leftCols(d));
  if (factor.info() != Eigen::Success) return false;
  inverse.setZero();
  for (index_t begin = 0; begin < d; begin += kBlock) {
    check_interrupt();
    const index_t size = std::min(kBlock, d - begin), end = begin + size;
    Matrix columns = Matrix::Zero(end, size);
    columns.bottomRows(size).setIdentity();
    factor.matrixLLT().topLeftCorner(end, end).template triangularView<Eigen::Upper>()
        .solveInPlace(columns);
    inverse.block(0, begin, end, size) = columns;
  }
  return true;
}

Matrix product_of(const Matrix& a, const Matrix& b) {
  const double work = static_cast<double>(a.cols()) * static_cast<double>(b.cols());
  if (work * static_cast<double>(a.rows()) <= kStepWork) return a * b;
  Matrix product(a.rows(), b.cols());
  const auto step = std::max<index_t>(8, static_cast<index_t>(kStepWork / work));
  for (index_t begin = 0; begin < a.rows(); begin += step) {
    const index_t size = std::min(step, a.rows() - begin);
    check_interrupt();
    product.middleRows(begin, size).noalias() = a.middleRows(begin, size) * b;
  }
  return product;
}

Matrix gram_of(const Matrix& x) {
  const double work = static_cast<double>(x.rows()) * static_cast<double>(x.cols());
  if (work * static_cast<double>(x.rows()) <= kStepWork) return x * x.transpose();
  return product_of(x, x.transpose());
}

}  // namespace fctree::ridge
