#include "ridge/factors.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "ridge/spd.hpp"

namespace fctree::ridge {

namespace {

constexpr index_t kSmall = 512;  // Eigen takes a fraction of a second up to here
constexpr index_t kBlock = 128;
constexpr double kStepWork = 2e8;  // multiply-adds between two looks for an interrupt

// The one product of matrices that is compiled.
Matrix multiply(const Matrix& a, const Matrix& b) { return a * b; }

// The lower factor in place of the lower triangle; false where the matrix is not positive
// definite. Left to right by blocks of columns, as in LAPACK's potrf.
bool factor_by_blocks(Matrix& matrix) {
  const index_t n = matrix.rows();
  for (index_t k = 0; k < n; k += kBlock) {
    const index_t size = std::min(kBlock, n - k), rest = n - k - size;
    check_interrupt();
    const Eigen::LLT<Matrix> factor(matrix.block(k, k, size, size));
    if (factor.info() != Eigen::Success) return false;
    matrix.block(k, k, size, size).triangularView<Eigen::Lower>() = factor.matrixLLT();
    if (rest == 0) break;
    Matrix beside = matrix.block(k + size, k, rest, size).transpose();
    factor.matrixL().solveInPlace(beside);
    const Matrix below = beside.transpose();
    matrix.block(k + size, k, rest, size) = below;
    for (index_t j = 0; j < rest; j += kBlock) {
      const index_t width = std::min(kBlock, rest - j);
      check_interrupt();
      matrix.block(k + size + j, k + size + j, rest - j, width) -=
          multiply(below.bottomRows(rest - j), beside.middleCols(j, width));
    }
  }
  return true;
}

// solve(columns), some of them at a time where there are many.
template <class Solve>
void solve_by_columns(Matrix& rhs, const Solve& solve) {
  if (rhs.size() == 0) return;
  if (rhs.rows() <= kSmall) return solve(rhs);
  for (index_t begin = 0; begin < rhs.cols(); begin += kBlock / 2) {
    check_interrupt();
    const index_t size = std::min(kBlock / 2, rhs.cols() - begin);
    Matrix columns = rhs.middleCols(begin, size);
    solve(columns);
    rhs.middleCols(begin, size) = columns;
  }
}

}  // namespace

CholeskyFactor::CholeskyFactor(const Matrix& matrix) {
  if (matrix.rows() <= kSmall) {
    compute(matrix);
    return;
  }
  const Matrix full = matrix.selfadjointView<Eigen::Lower>();
  m_l1_norm = full.cwiseAbs().colwise().sum().maxCoeff();
  m_matrix = matrix;
  m_isInitialized = true;
  m_info = factor_by_blocks(m_matrix) ? Eigen::Success : Eigen::NumericalIssue;
}

bool CholeskyFactor::is_definite() const { return info() == Eigen::Success; }

double CholeskyFactor::reciprocal_condition() const { return rcond(); }

void CholeskyFactor::solve_lower(Matrix& rhs) const {
  solve_by_columns(rhs, [&](Matrix& columns) { matrixL().solveInPlace(columns); });
}

void CholeskyFactor::solve_upper(Matrix& rhs) const {
  solve_by_columns(rhs, [&](Matrix& columns) { matrixU().solveInPlace(columns); });
}

Matrix CholeskyFactor::upper_times(const Matrix& rhs) const { return matrixU() * rhs; }

Matrix CholeskyFactor::solve(Matrix rhs) const {
  solve_lower(rhs);
  solve_upper(rhs);
  return rhs;
}

bool invert_factor(RowMatrix& a, RowMatrix& inverse) {
  const index_t d = a.rows();
  if (d <= kSmall) return spd_kernels().invert_factor(a.data(), d, inverse.data());
  const CholeskyFactor factor(a.leftCols(d).transpose());
  if (!factor.is_definite()) return false;
  Matrix columns = Matrix::Identity(d, d);
  factor.solve_upper(columns);
  inverse.leftCols(d) = columns;
  return true;
}

Matrix product_of(const Matrix& a, const Matrix& b) {
  const double work = static_cast<double>(a.cols()) * static_cast<double>(b.cols());
  if (work * static_cast<double>(a.rows()) <= kStepWork) return multiply(a, b);
  Matrix product(a.rows(), b.cols());
  const auto step = std::max<index_t>(8, static_cast<index_t>(kStepWork / work));
  for (index_t begin = 0; begin < a.rows(); begin += step) {
    const index_t size = std::min(step, a.rows() - begin);
    check_interrupt();
    product.middleRows(begin, size) = multiply(a.middleRows(begin, size), b);
  }
  return product;
}

Matrix transposed_product(const Matrix& a, const Matrix& b) { return product_of(a.transpose(), b); }

Matrix gram_of(const Matrix& x) { return product_of(x, x.transpose()); }

}  // namespace fctree::ridge
