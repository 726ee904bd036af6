#include "oblique/feature_map.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace fctree {

namespace {

constexpr index_t kTaskRows = 4096;

// A column whose deviations are its rounding is a constant.
constexpr double kLeastSpread = 1e-12;

}  // namespace

FeatureMap find_feature_map(const double* x, const double* weight, index_t n_samples,
                            index_t n_features, bool standardize) {
  FeatureMap map;
  map.columns.resize(n_features);
  std::iota(map.columns.begin(), map.columns.end(), 0);
  map.mean = Vector::Zero(n_features);
  map.scale = Vector::Ones(n_features);
  if (!standardize) return map;
  // About the first sample: means of columns far from zero keep their digits.
  const VectorView first(x, n_features);
  Vector sums = Vector::Zero(n_features), squares = sums, largest = sums;
  double total = 0.0;
  for (index_t i = 0; i < n_samples; ++i) {
    const VectorView row(x + i * n_features, n_features);
    const double w = weight == nullptr ? 1.0 : weight[i];
    total += w;
    sums += w * (row - first);
    squares += w * (row - first).cwiseAbs2();
    largest = largest.cwiseMax(row.cwiseAbs());
  }
  map.mean = first + sums / total;
  for (index_t j = 0; j < n_features; ++j) {
    const double offset = sums[j] / total;
    const double spread = std::sqrt(std::max(squares[j] / total - offset * offset, 0.0));
    if (!std::isfinite(spread))
      throw std::invalid_argument(
          "X or sample_weight is too large: the sum of its squares overflows float64");
    if (spread > kLeastSpread * largest[j]) map.scale[j] = spread;
  }
  return map;
}

void map_features(const FeatureMap& map, const double* x, index_t n_samples, index_t n_features,
                  double* out, const Execution& execution) {
  const index_t width = map.width();
  const Execution mapping = limit_threads(execution, static_cast<double>(n_samples * width));
  parallel_for(mapping, (n_samples + kTaskRows - 1) / kTaskRows, [&](index_t task) {
    const index_t end = std::min(n_samples, (task + 1) * kTaskRows);
    for (index_t i = task * kTaskRows; i < end; ++i)
      for (index_t j = 0; j < width; ++j) {
        const index_t column = map.columns[j];
        out[i * width + j] = (x[i * n_features + column] - map.mean[column]) / map.scale[column];
      }
  });
}

}  // namespace fctree
