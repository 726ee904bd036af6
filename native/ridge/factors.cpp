#include "ridge/factors.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/Householder>
#include <Eigen/Jacobi>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/parallel.hpp"

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

// A symmetric tridiagonal matrix T and the orthogonal Q with A = Q T Q'.
struct Tridiagonal {
  Vector diagonal;
  Vector below;
  Matrix rotation;
};

// By Householder's reflections, one a column; a is overwritten with them.
Tridiagonal tridiagonalize(Matrix a) {
  const index_t n = a.rows();
  Vector factors(n - 1);
  for (index_t i = 0; i + 1 < n; ++i) {
    check_interrupt();
    const index_t rest = n - i - 1;
    double beta, h;
    a.col(i).tail(rest).makeHouseholderInPlace(h, beta);
    a(i + 1, i) = 1.0;
    const auto v = a.col(i).tail(rest);
    auto corner = a.bottomRightCorner(rest, rest);
    Vector w = corner.selfadjointView<Eigen::Lower>() * (h * v);
    w -= 0.5 * h * w.dot(v) * v;
    corner.selfadjointView<Eigen::Lower>().rankUpdate(v, w, -1.0);
    a(i + 1, i) = beta;
    factors[i] = h;
  }
  Tridiagonal found = {a.diagonal(), a.diagonal(-1), Matrix::Identity(n, n)};
  // Q = H_0 H_1 .. applied to the identity from the last block of reflections to the first.
  for (index_t begin = (n - 2) / kBlock * kBlock; begin >= 0; begin -= kBlock) {
    const index_t size = std::min(kBlock, n - 1 - begin);
    check_interrupt();
    const auto vectors = a.bottomRightCorner(n - begin, n - begin).leftCols(size);
    auto corner = found.rotation.bottomRightCorner(n - begin, n - begin);
    auto sequence = Eigen::householderSequence(vectors, factors.segment(begin, size));
    sequence.setLength(size).setShift(1);
    corner.applyOnTheLeft(sequence);
  }
  return found;
}

// One implicit step with Wilkinson's shift over rows begin .. end of T.
void step_of_qr(Tridiagonal& t, index_t begin, index_t end) {
  const double half = 0.5 * (t.diagonal[end - 1] - t.diagonal[end]);
  const double e = t.below[end - 1];
  const double root = std::hypot(half, e);
  const double mu = t.diagonal[end] - (e == 0.0 ? 0.0 : e / (half + (half > 0 ? root : -root)) * e);
  double x = t.diagonal[begin] - mu, z = t.below[begin];
  for (index_t k = begin; k < end && z != 0.0; ++k) {
    Eigen::JacobiRotation<double> rotation;
    rotation.makeGivens(x, z);
    const double c = rotation.c(), s = rotation.s();
    const double diagonal = t.diagonal[k], next = t.diagonal[k + 1], off = t.below[k];
    const double sum_off = s * diagonal + c * off, sum_next = s * off + c * next;
    t.diagonal[k] = c * (c * diagonal - s * off) - s * (c * off - s * next);
    t.diagonal[k + 1] = s * sum_off + c * sum_next;
    t.below[k] = c * sum_off - s * sum_next;
    if (k > begin) t.below[k - 1] = c * t.below[k - 1] - s * z;
    x = t.below[k];
    if (k + 1 < end) {
      z = -s * t.below[k + 1];
      t.below[k + 1] *= c;
    }
    t.rotation.applyOnTheRight(k, k + 1, rotation);
  }
}

// Diagonalises T; false if that takes more steps than it ever should.
bool diagonalize(Tridiagonal& t) {
  constexpr index_t kStepsPerValue = 30;
  const index_t n = t.diagonal.size();
  const double epsilon = std::numeric_limits<double>::epsilon();
  index_t end = n - 1;
  for (index_t steps = 0; end > 0;) {
    check_interrupt();
    for (index_t i = 0; i < end; ++i)
      if (std::abs(t.below[i]) <= epsilon * (std::abs(t.diagonal[i]) + std::abs(t.diagonal[i + 1])))
        t.below[i] = 0.0;
    while (end > 0 && t.below[end - 1] == 0.0) --end;
    if (end == 0) break;
    if (++steps > kStepsPerValue * n) return false;
    index_t begin = end - 1;
    while (begin > 0 && t.below[begin - 1] != 0.0) --begin;
    step_of_qr(t, begin, end);
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

SymmetricEigen::SymmetricEigen(const Matrix& matrix) {
  const index_t n = matrix.rows();
  if (n <= kSmall) {
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(matrix);
    converged = eigen.info() == Eigen::Success;
    values = eigen.eigenvalues();
    vectors = eigen.eigenvectors();
    return;
  }
  const double largest = matrix.triangularView<Eigen::Lower>().toDenseMatrix().cwiseAbs().maxCoeff();
  const double scale = largest > 0.0 && std::isfinite(largest) ? largest : 1.0;
  Tridiagonal t = tridiagonalize(matrix / scale);
  converged = diagonalize(t);
  std::vector<index_t> order(n);
  std::iota(order.begin(), order.end(), index_t{0});
  std::sort(order.begin(), order.end(),
            [&](index_t a, index_t b) { return t.diagonal[a] < t.diagonal[b]; });
  values.resize(n);
  vectors.resize(n, n);
  for (index_t i = 0; i < n; ++i) {
    values[i] = scale * t.diagonal[order[i]];
    vectors.col(i) = t.rotation.col(order[i]);
  }
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
