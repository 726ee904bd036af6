#include "ridge/penalty_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ridge/dense.hpp"
#include "ridge/factors.hpp"
#include "ridge/ridge.hpp"
#include "ridge/symmetric_eigen.hpp"

namespace fctree::ridge {

namespace {

constexpr index_t kChunkRows = 1024;

double grid_alpha(int i) { return std::pow(10.0, 3.0 - 0.5 * i); }

// Eigenvectors from the (n, n) Gram matrix, for fewer samples than features.
SpectralFit dual_fit(const CentredRows& centred) {
  const auto& [x, y] = centred;
  const SymmetricEigen eigen = symmetric_eigen(gram_of(x));
  const Vector& values = eigen.values;
  const double smallest =
      values.maxCoeff() * static_cast<double>(x.rows()) * std::numeric_limits<double>::epsilon();
  index_t rank = 0;
  while (rank < values.size() && values[values.size() - 1 - rank] > smallest) ++rank;
  SpectralFit fit;
  fit.values = values.tail(rank);
  fit.vectors = product_of(x.transpose(), eigen.vectors.rightCols(rank)) *
                fit.values.cwiseSqrt().cwiseInverse().asDiagonal();
  fit.cross = transposed_product(fit.vectors, transposed_product(x, y));
  return fit;
}

void centre_fit(SpectralFit& fit, const Moments& moments, const Vector& origin,
                bool fit_intercept) {
  const Vector mean = moments.mean + origin;
  fit.mean = fit_intercept ? mean : Vector(Vector::Zero(mean.size()));
  fit.base = fit_intercept ? 1.0 / moments.weight : 0.0;
}

}  // namespace

SpectralFit spectral_fit(const Moments& moments, const Vector& origin, bool fit_intercept) {
  const auto [scatter, cross] = normal_equations(moments, origin, fit_intercept);
  SymmetricEigen eigen = symmetric_eigen(scatter);
  SpectralFit fit;
  fit.cross = transposed_product(eigen.vectors, cross);
  fit.vectors = std::move(eigen.vectors);
  fit.values = eigen.values.cwiseMax(0.0);
  centre_fit(fit, moments, origin, fit_intercept);
  return fit;
}

GridErrors sum_grid_errors(const TrainingData& data, const NodeRows& samples,
                           const SpectralFit& fit) {
  const index_t d = data.n_features;
  const index_t n_outputs = data.n_outputs;
  GridErrors errors = GridErrors::Zero();
  Vector coordinates, filtered;
  for (index_t i = 0; i < samples.size; ++i) {
    const index_t row = samples.rows[i];
    const double weight = data.weight_of(row);
    coordinates.noalias() =
        fit.vectors.transpose() * (VectorView(data.x + row * d, d) - fit.mean.head(d));
    for (int g = 0; g < kGridSize; ++g) {
      filtered = coordinates.array() / (fit.values.array() + grid_alpha(g));
      const double leverage = std::min(fit.base + filtered.dot(coordinates), 0.98);
      double squares = 0.0;
      for (index_t k = 0; k < n_outputs; ++k) {
        const double residual =
            data.y[row * n_outputs + k] - fit.mean[d + k] - filtered.dot(fit.cross.col(k));
        squares += residual * residual;
      }
      errors[g] += weight * squares / ((1.0 - leverage) * (1.0 - leverage));
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
  SpectralFit fit;
  if (moments.scatter.size() == 0) {
    fit = dual_fit(centred_rows(data, node, moments, origin, fit_intercept));
    centre_fit(fit, moments, origin, fit_intercept);
  } else {
    fit = spectral_fit(moments, origin, fit_intercept);
  }
  const Partition parts = partition_range(node.size, kChunkRows, node.size);
  std::vector<GridErrors> partial(parts.n_parts);
  parallel_for(execution, parts.n_parts, [&](index_t p) {
    const NodeRows samples = {node.rows + parts.begin(p), parts.end(p) - parts.begin(p)};
    partial[p] = sum_grid_errors(data, samples, fit);
  });
  GridErrors errors = GridErrors::Zero();
  for (const GridErrors& part : partial) errors += part;
  return best_alpha(errors);
}

}  // namespace fctree::ridge
