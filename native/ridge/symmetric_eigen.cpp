#include "ridge/symmetric_eigen.hpp"

#include <Eigen/Householder>
#include <Eigen/Jacobi>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/parallel.hpp"
#include "ridge/factors.hpp"

namespace fctree::ridge {

namespace {

constexpr index_t kBlock = 64;

// A symmetric tridiagonal matrix T and the orthogonal Q with A = Q T Q'.
struct Tridiagonal {
  Vector diagonal;
  Vector below;
  Matrix rotation;
};

// Multiplies the last rows by the reflections I - h v v' of V's columns, the last one first, as by one
// product I - V T V' (Schreiber and Van Loan, 1989). Rows above and columns before are the identity's.
void reflect(Matrix& matrix, const Matrix& v, const Vector& h) {
  const index_t size = v.cols();
  const Matrix inner = transposed_product(v, v);
  Matrix t = Matrix::Zero(size, size);
  for (index_t i = 0; i < size; ++i) {
    for (index_t row = 0; row < i; ++row)
      for (index_t j = row; j < i; ++j) t(row, i) -= h[i] * t(row, j) * inner(j, i);
    t(i, i) = h[i];
  }
  const Matrix below = matrix.bottomRightCorner(v.rows(), v.rows());
  matrix.bottomRightCorner(v.rows(), v.rows()) -=
      product_of(v, product_of(t, transposed_product(v, below)));
}

// By Householder's reflections, one a column; a is overwritten with them.
Tridiagonal tridiagonalize(Matrix a) {
  const index_t n = a.rows();
  Vector factors(std::max<index_t>(n - 1, 0)), below(factors.size());
  for (index_t i = 0; i + 1 < n; ++i) {
    check_interrupt();
    const index_t rest = n - i - 1;
    a.col(i).tail(rest).makeHouseholderInPlace(factors[i], below[i]);
    a(i + 1, i) = 1.0;
    const auto v = a.col(i).tail(rest);
    auto corner = a.bottomRightCorner(rest, rest);
    Vector w = corner.selfadjointView<Eigen::Lower>() * (factors[i] * v);
    w -= 0.5 * factors[i] * w.dot(v) * v;
    corner.selfadjointView<Eigen::Lower>().rankUpdate(v, w, -1.0);
  }
  Tridiagonal found = {a.diagonal(), below, Matrix::Identity(n, n)};
  // Q = H_0 H_1 .. applied to the identity from the last block of reflections to the first.
  for (index_t begin = (n - 2) / kBlock * kBlock; n > 1 && begin >= 0; begin -= kBlock) {
    const index_t size = std::min(kBlock, n - 1 - begin);
    const index_t rest = n - 1 - begin;
    Matrix v = Matrix::Zero(rest, size);
    for (index_t i = 0; i < size; ++i) v.col(i).tail(rest - i) = a.col(begin + i).tail(rest - i);
    reflect(found.rotation, v, factors.segment(begin, size));
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
  const double largest = matrix.cwiseAbs().maxCoeff();
  if (!matrix.allFinite())
    return {Vector::Constant(n, std::numeric_limits<double>::quiet_NaN()), Matrix::Identity(n, n),
            false};
  const double scale = largest > 0.0 ? largest : 1.0;
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

void orient(Matrix& directions) {
  for (auto direction : directions.colwise()) {
    index_t largest = 0;
    direction.cwiseAbs().maxCoeff(&largest);
    if (direction[largest] < 0.0) direction = -direction;
    direction.normalize();
  }
}

}  // namespace fctree::ridge
