#include "oblique/marginal_screening.hpp"

#include <algorithm>
#include <cmath>

#include "core/matrix.hpp"
#include "ridge/feature_map.hpp"
#include "ridge/row_blocks.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kFeaturesOfTask = 8;

// Of a square's variation, what is left beside the feature itself: with less there is no bend to see.
constexpr double kLeastRest = 1e-8;

// Of these weights, which sum to 1.
void centre(const Vector& weight, Vector& column) { column.array() -= weight.dot(column); }

// How much of the residuals' squares a centred column explains, with those times the weights.
double explained(const Vector& column, double square, const Matrix& weighted_residuals) {
  return (weighted_residuals.transpose() * column).squaredNorm() / square;
}

double gain_of(Vector column, const Vector& weight, const Matrix& weighted_residuals) {
  centre(weight, column);
  const double variance = weight.dot(column.cwiseAbs2());
  if (!(variance > 0.0)) return 0.0;
  Vector square = column.cwiseAbs2() / variance;
  centre(weight, square);
  const double whole = weight.dot(square.cwiseAbs2());
  square -= weight.dot(square.cwiseProduct(column)) / variance * column;
  const double rest = weight.dot(square.cwiseAbs2());
  const double bend = rest > kLeastRest * whole ? explained(square, rest, weighted_residuals) : 0.0;
  const double gain = explained(column, variance, weighted_residuals) + bend;
  return std::isfinite(gain) ? gain : 0.0;
}

}  // namespace

std::vector<index_t> screen_marginally(const TrainingData& data, index_t n_kept,
                                       const Execution& team) {
  const Buffer<std::int32_t> rows = weighted_rows(data, team);
  const index_t n = rows.size(), d = data.n_features;
  Vector weight(n);
  Matrix residuals(n, data.n_outputs);
  for (index_t i = 0; i < n; ++i) {
    weight[i] = data.weight_of(rows[i]);
    for (index_t k = 0; k < data.n_outputs; ++k)
      residuals(i, k) = data.y[rows[i] * data.n_outputs + k];
  }
  weight /= weight.sum();
  residuals.rowwise() -= weight.transpose() * residuals;
  residuals.array().colwise() *= weight.array();
  Vector gain(d);
  for_each_part(team, d, kFeaturesOfTask, [&](index_t, index_t begin, index_t end) {
    Vector column(n);
    for (index_t j = begin; j < end; ++j) {
      read_feature(data, {rows.data(), n}, j, column.data());
      gain[j] = gain_of(column, weight, residuals);
    }
  });
  std::vector<index_t> kept = all_columns(d);
  std::stable_sort(kept.begin(), kept.end(), [&](index_t a, index_t b) { return gain[a] > gain[b]; });
  kept.resize(std::min(n_kept, d));
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace fctree::oblique
