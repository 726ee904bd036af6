#include "ridge/symmetric_eigen.hpp"

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
    const auto vectors = a.bottomRightCorner(n - begin, n - begin).leftCols(size);
    auto corner = found.rotation.bottomRightCorner(n - begin, n - begin);
    auto sequence = Eigen::householderSequence(vectors, factors.segment(begin, size));
    sequence.setLength(size).setShift(1);
    for (index_t j = 0; j < corner.cols(); j += 2 * kBlock) {
      check_interrupt();
      auto columns = corner.middleCols(j, std::min(2 * kBlock, corner.cols() - j));
      columns.applyOnTheLeft(sequence);
    }
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

SymmetricEigen symmetric_eigen(const Matrix& matrix) {
  const index_t n = matrix.rows();
  if (n <= kSmall) {
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(matrix);
    return {solver.eigenvalues(), solver.eigenvectors(), solver.info() == Eigen::Success};
  }
  const double largest = matrix.triangularView<Eigen::Lower>().toDenseMatrix().cwiseAbs().maxCoeff();
  const double scale = largest > 0.0 && std::isfinite(largest) ? largest : 1.0;
  Tridiagonal t = tridiagonalize(matrix / scale);
  SymmetricEigen found;
  found.converged = diagonalize(t);
  std::vector<index_t> order(n);
  std::iota(order.begin(), order.end(), index_t{0});
  std::sort(order.begin(), order.end(),
            [&](index_t a, index_t b) { return t.diagonal[a] < t.diagonal[b]; });
  found.values.resize(n);
  found.vectors.resize(n, n);
  for (index_t i = 0; i < n; ++i) {
    found.values[i] = scale * t.diagonal[order[i]];
    found.vectors.col(i) = t.rotation.col(order[i]);
  }
  return found;
}

}  // namespace fctree::ridge
