#include "ridge/penalty_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ridge/factors.hpp"
#include "ridge/ridge.hpp"
#include "ridge/symmetric_eigen.hpp"

namespace fctree::ridge {

namespace {

constexpr index_t kChunkRows = 1024;
constexpr double kLeastRest = 1e-10;  // of 1 - leverage, that rounding leaves some digits of

double grid_alpha(int i) { return std::pow(10.0, 3.0 - 0.5 * i); }

// The fit in the eigenvectors of the (n, n) Gram matrix, for at most as many samples as features. A
// penalty leaves the share alpha / (value + alpha) of a residual along each: residuals and 1 -
// leverage come without cancellation, however closely the model interpolates.
struct DualFit {
  Matrix vectors;  // (n, r), of positive values
  Vector values;   // (r)
  Matrix cross;    // (r, K)
  Matrix beyond;   // (n, K): what no penalty fits
  Vector share;    // (n): 1 - leverage without a penalty
};

DualFit dual_fit(const CentredRows& centred, const Vector& weight, bool fit_intercept) {
  const auto& [x, y] = centred;
  const index_t n = x.rows();
  const SymmetricEigen eigen = symmetric_eigen(gram_of(x));
  const double smallest = eigen.values.maxCoeff() * static_cast<double>(n) *
                          std::numeric_limits<double>::epsilon();
  index_t rank = 0;
  while (rank < n && eigen.values[n - 1 - rank] > smallest) ++rank;
  DualFit fit;
  fit.values = eigen.values.tail(rank);
  fit.vectors = eigen.vectors.rightCols(rank);
  fit.cross = transposed_product(fit.vectors, y);
  fit.beyond = Matrix::Zero(n, y.cols());
  fit.share = Vector::Zero(n);
  if (n - rank == (fit_intercept ? 1 : 0)) return fit;  // exactly, not up to rounding
  fit.beyond = y - product_of(fit.vectors, fit.cross);
  fit.share.array() = 1.0 - fit.vectors.rowwise().squaredNorm().array();
  if (fit_intercept) fit.share -= weight / weight.sum();
  fit.share = fit.share.cwiseMax(0.0);
  return fit;
}

// `share` (n): that of one of the samples which a row is in its weight.
GridErrors dual_errors(const DualFit& fit, const Vector& share, index_t begin, index_t size) {
  const Matrix vectors = fit.vectors.middleRows(begin, size);
  GridErrors errors = GridErrors::Zero();
  for (int g = 0; g < kGridSize; ++g) {
    check_interrupt();
    const Vector left = grid_alpha(g) * (fit.values.array() + grid_alpha(g)).inverse();
    const Vector rest = fit.share.segment(begin, size) + vectors.cwiseAbs2() * left;
    const Matrix residuals =
        fit.beyond.middleRows(begin, size) + product_of(vectors, left.asDiagonal() * fit.cross);
    for (index_t i = 0; i < size; ++i) {
      const double of_one = share[begin + i];
      const double own = 1.0 - of_one + of_one * rest[i];  // 1 - the leverage of one of them
      errors[g] += (residuals.row(i) / std::max(own, std::numeric_limits<double>::min()))
                       .squaredNorm();
    }
  }
  return errors;
}

}  // namespace

SpectralFit spectral_fit(const Moments& moments, const Vector& origin, bool fit_intercept) {
  const auto [scatter, cross] = normal_equations(moments, origin, fit_intercept);
  SymmetricEigen eigen = symmetric_eigen(scatter);
  SpectralFit fit;
  fit.cross = transposed_product(eigen.vectors, cross);
  fit.vectors = std::move(eigen.vectors);
  fit.values = eigen.values.cwiseMax(0.0);
  const Vector mean = moments.mean + origin;
  fit.mean = fit_intercept ? mean : Vector(Vector::Zero(mean.size()));
  fit.base = fit_intercept ? 1.0 / moments.weight : 0.0;
  return fit;
}

GridErrors sum_grid_errors(const TrainingData& data, const NodeRows& samples,
                           const SpectralFit& fit) {
  const index_t d = data.n_features;
  const index_t n_outputs = data.n_outputs;
  GridErrors errors = GridErrors::Zero();
  Vector coordinates, filtered;
  for (index_t i = 0; i < samples.size; ++i) {
    if (i % 16 == 0) check_interrupt();
    const index_t row = samples.rows[i];
    const double weight = data.weight_of(row);
    coordinates.noalias() =
        fit.vectors.transpose() * (VectorView(data.x + row * d, d) - fit.mean.head(d));
    for (int g = 0; g < kGridSize; ++g) {
      filtered = coordinates.array() / (fit.values.array() + grid_alpha(g));
      const double leverage = fit.base + filtered.dot(coordinates);
      const double rest = 1.0 - data.unit_of(row) * leverage;
      double squares = 0.0;
      for (index_t k = 0; k < n_outputs; ++k) {
        double residual = data.y[row * n_outputs + k] - fit.mean[d + k];
        // Of a sample that is all but interpolated only rounding is left: the mean's error then.
        if (rest > kLeastRest) residual = (residual - filtered.dot(fit.cross.col(k))) / rest;
        squares += residual * residual;
      }
      errors[g] += weight * squares;
    }
  }
  return errors;
}

double best_alpha(const GridErrors& errors) {
  int best = 0;
  for (int g = 1; g < kGridSize; ++g)
    if (errors[g] < errors[best] * (1.0 - 1e-10)) best = g;
  return grid_alpha(best);
}

double choose_alpha(const TrainingData& data, const NodeRows& node, const Moments& moments,
                    const Vector& origin, bool fit_intercept, const Execution& execution) {
  const Partition parts = partition_range(node.size, kChunkRows, node.size);
  std::vector<GridErrors> partial(parts.n_parts);
  if (node.size <= data.n_features + 1) {
    Vector weight(node.size), share(node.size);
    for (index_t i = 0; i < node.size; ++i) {
      weight[i] = data.weight_of(node.rows[i]);
      share[i] = data.unit_of(node.rows[i]) / weight[i];
    }
    const DualFit fit = dual_fit(centred_rows(data, node, moments, origin, fit_intercept), weight,
                                 fit_intercept);
    parallel_for(execution, parts.n_parts, [&](index_t p) {
      partial[p] = dual_errors(fit, share, parts.begin(p), parts.end(p) - parts.begin(p));
    });
  } else {
    const SpectralFit fit = spectral_fit(moments, origin, fit_intercept);
    parallel_for(execution, parts.n_parts, [&](index_t p) {
      const NodeRows samples = {node.rows + parts.begin(p), parts.end(p) - parts.begin(p)};
      partial[p] = sum_grid_errors(data, samples, fit);
    });
  }
  GridErrors errors = GridErrors::Zero();
  for (const GridErrors& part : partial) errors += part;
  return best_alpha(errors);
}

}  // namespace fctree::ridge
