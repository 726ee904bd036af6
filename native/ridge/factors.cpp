#include "ridge/factors.hpp"

#include <algorithm>

#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "ridge/matrix_product.hpp"
#include "ridge/spd.hpp"

namespace fctree::ridge {

namespace {

// Rows up to which Eigen's factors, the kernel's inverses and Eigen's solutions are as fast as those by halves.
constexpr index_t kSmallFactor = 256, kSmallInverse = 512, kSmallSystem = 32;
constexpr index_t kSmallProduct = 4096;  // the same in multiply-adds
constexpr index_t kFewColumns = 8;       // with fewer the kernel would multiply zeros
constexpr index_t kStrip = 64;           // columns of a symmetric product at once
constexpr double kStepWork = 2e8;        // multiply-adds between two looks for an interrupt

using Part = Eigen::Ref<Matrix>;
using ConstPart = Eigen::Ref<const Matrix>;

MatrixView view(const ConstPart& part) { return {part.data(), 1, part.outerStride()}; }
MatrixView transposed(const ConstPart& part) { return {part.data(), part.outerStride(), 1}; }

// out += factor a b, whose inner size is n_inner; some columns at a time where they are many.
void add_product(double factor, const MatrixView& a, const MatrixView& b, index_t n_inner, Part out) {
  const ProductKernels& kernels = product_kernels();
  const double work = static_cast<double>(out.rows()) * static_cast<double>(n_inner);
  const auto most = std::max<index_t>(kFewColumns, static_cast<index_t>(kStepWork / std::max(work, 1.0)));
  Buffer<double> scratch;
  for (index_t begin = 0; begin < out.cols(); begin += most) {
    check_interrupt();
    const Product product = {factor, a, {b.data + begin * b.column_stride, b.row_stride, b.column_stride},
                             out.rows(), n_inner, std::min(most, out.cols() - begin)};
    scratch.reserve(kernels.scratch_size(product));
    kernels.add(product, scratch.data(), out.data() + begin * out.outerStride(), out.outerStride());
  }
}

bool is_small(index_t n_rows, index_t n_inner, index_t n_columns) {
  return std::min(n_rows, n_columns) < kFewColumns || n_rows * n_inner * n_columns <= kSmallProduct;
}

Matrix multiply(const MatrixView& a, const MatrixView& b, index_t n_inner, index_t n_rows, index_t n_columns) {
  Matrix product = Matrix::Zero(n_rows, n_columns);
  add_product(1.0, a, b, n_inner, product);
  return product;
}

index_t half_of(index_t n) { return (n / 2 + 7) / 8 * 8; }

// rhs becomes L^-1 rhs, by halves of L.
void solve_lower_part(const ConstPart& lower, Part rhs) {
  const index_t n = lower.rows(), top = half_of(n), rest = n - top;
  if (n <= kSmallSystem || rhs.cols() < kFewColumns) {
    lower.triangularView<Eigen::Lower>().solveInPlace(rhs);
    return;
  }
  solve_lower_part(lower.topLeftCorner(top, top), rhs.topRows(top));
  add_product(-1.0, view(lower.bottomLeftCorner(rest, top)), view(rhs.topRows(top)), top, rhs.bottomRows(rest));
  solve_lower_part(lower.bottomRightCorner(rest, rest), rhs.bottomRows(rest));
}

// The same of L'^-1.
void solve_upper_part(const ConstPart& lower, Part rhs) {
  const index_t n = lower.rows(), top = half_of(n), rest = n - top;
  if (n <= kSmallSystem || rhs.cols() < kFewColumns) {
    lower.triangularView<Eigen::Lower>().transpose().solveInPlace(rhs);
    return;
  }
  solve_upper_part(lower.bottomRightCorner(rest, rest), rhs.bottomRows(rest));
  add_product(-1.0, transposed(lower.bottomLeftCorner(rest, top)), view(rhs.bottomRows(rest)), rest, rhs.topRows(top));
  solve_upper_part(lower.topLeftCorner(top, top), rhs.topRows(top));
}

// The lower factor in place of the lower triangle, by halves; false where the matrix is not positive definite.
bool factor_part(Part matrix) {
  const index_t n = matrix.rows(), top = half_of(n), rest = n - top;
  if (n <= kSmallFactor) {
    const Eigen::LLT<Matrix> factor(matrix);
    if (factor.info() != Eigen::Success) return false;
    matrix.triangularView<Eigen::Lower>() = factor.matrixLLT();
    return true;
  }
  Part first = matrix.topLeftCorner(top, top), last = matrix.bottomRightCorner(rest, rest);
  Part below = matrix.bottomLeftCorner(rest, top);
  if (!factor_part(first)) return false;
  Matrix beside = below.transpose();
  solve_lower_part(first, beside);
  below = beside.transpose();
  for (index_t j = 0; j < rest; j += kStrip) {
    const index_t width = std::min(kStrip, rest - j);
    add_product(-1.0, view(below.bottomRows(rest - j)), view(beside.middleCols(j, width)), top,
                last.block(j, j, rest - j, width));
  }
  return factor_part(last);
}

}  // namespace

CholeskyFactor::CholeskyFactor(const Matrix& matrix) {
  if (matrix.rows() <= kSmallFactor) {
    compute(matrix);
    return;
  }
  const Matrix full = matrix.selfadjointView<Eigen::Lower>();
  m_l1_norm = full.cwiseAbs().colwise().sum().maxCoeff();
  m_matrix = matrix;
  m_isInitialized = true;
  m_info = factor_part(m_matrix) ? Eigen::Success : Eigen::NumericalIssue;
}

bool CholeskyFactor::is_definite() const { return info() == Eigen::Success; }

double CholeskyFactor::reciprocal_condition() const { return rcond(); }

void CholeskyFactor::solve_lower(Matrix& rhs) const {
  if (rhs.size() > 0) solve_lower_part(m_matrix, rhs);
}

void CholeskyFactor::solve_upper(Matrix& rhs) const {
  if (rhs.size() > 0) solve_upper_part(m_matrix, rhs);
}

Matrix CholeskyFactor::upper_times(const Matrix& rhs) const { return matrixU() * rhs; }

Matrix CholeskyFactor::solve(Matrix rhs) const {
  solve_lower(rhs);
  solve_upper(rhs);
  return rhs;
}

bool invert_factor(RowMatrix& a, RowMatrix& inverse) {
  const index_t d = a.rows();
  if (d <= kSmallInverse) return spd_kernels().invert_factor(a.data(), d, inverse.data());
  const CholeskyFactor factor(a.leftCols(d).transpose());
  if (!factor.is_definite()) return false;
  Matrix columns = Matrix::Identity(d, d);
  factor.solve_upper(columns);
  inverse.leftCols(d) = columns;
  return true;
}

Matrix product_of(const Matrix& a, const Matrix& b) {
  if (is_small(a.rows(), a.cols(), b.cols())) return a * b;
  return multiply(view(a), view(b), a.cols(), a.rows(), b.cols());
}

Matrix transposed_product(const Matrix& a, const Matrix& b) {
  if (is_small(a.cols(), a.rows(), b.cols())) return a.transpose() * b;
  return multiply(transposed(a), view(b), a.rows(), a.cols(), b.cols());
}

Matrix gram_of(const Matrix& x) { return multiply(view(x), transposed(x), x.cols(), x.rows(), x.rows()); }

}  // namespace fctree::ridge
