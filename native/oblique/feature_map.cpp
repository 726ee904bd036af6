#include "oblique/feature_map.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace fctree::oblique {

namespace {

constexpr index_t kTaskRows = 4096;

// A column whose deviations are its rounding is a constant.
constexpr double kLeastSpread = 1e-12;

}  // namespace

FeatureMap identity_map(index_t n_features) {
  FeatureMap map;
  map.columns.resize(n_features);
  std::iota(map.columns.begin(), map.columns.end(), 0);
  map.mean = Vector::Zero(n_features);
  map.scale = Vector::Ones(n_features);
  return map;
}

void add_features(const double* x, const double* weight, index_t n_samples, const Vector& first,
                  FeatureSums& total) {
  const index_t d = first.size();
  for (index_t i = 0; i < n_samples; ++i) {
    const VectorView row(x + i * d, d);
    const double w = weight == nullptr ? 1.0 : weight[i];
    total.sums[0] += w;
    total.sums.segment(1, d) += w * (row - first);
    total.sums.tail(d) += w * (row - first).cwiseAbs2();
    total.largest = total.largest.cwiseMax(row.cwiseAbs());
  }
}

FeatureMap map_of_sums(const FeatureSums& total, const Vector& first) {
  const index_t d = first.size();
  FeatureMap map = identity_map(d);
  const double weight = total.sums[0];
  const auto sums = total.sums.segment(1, d);
  const auto squares = total.sums.tail(d);
  map.mean = first + sums / weight;
  for (index_t j = 0; j < d; ++j) {
    const double offset = sums[j] / weight;
    const double spread = std::sqrt(std::max(squares[j] / weight - offset * offset, 0.0));
    if (!std::isfinite(spread))
      throw std::invalid_argument(
          "X or sample_weight is too large: the sum of its squares overflows float64");
    if (spread > kLeastSpread * total.largest[j]) map.scale[j] = spread;
  }
  return map;
}

FeatureMap find_feature_map(const double* x, const double* weight, index_t n_samples,
                            index_t n_features, bool standardize) {
  if (!standardize) return identity_map(n_features);
  // About the first sample: means of columns far from zero keep their digits.
  const Vector first = VectorView(x, n_features);
  FeatureSums total = {Vector::Zero(1 + 2 * n_features), Vector::Zero(n_features)};
  add_features(x, weight, n_samples, first, total);
  return map_of_sums(total, first);
}

Vector offset_of(const FeatureMap& map) {
  Vector offset(map.width());
  for (index_t j = 0; j < map.width(); ++j)
    offset[j] = map.mean[map.columns[j]] / map.scale[map.columns[j]];
  return offset;
}

std::vector<double> append_linear(const std::vector<double>& from, const FeatureMap& map,
                                  double factor, std::vector<double>& to) {
  const index_t width = map.width(), d = map.mean.size();
  std::vector<double> at_origin;
  for (std::size_t first = 0; first < from.size(); first += width) {
    const std::size_t start = to.size();
    to.resize(start + d, 0.0);
    double offset = 0.0;
    for (index_t j = 0; j < width; ++j) {
      const index_t column = map.columns[j];
      const double slope = factor * from[first + j] / map.scale[column];
      to[start + column] = slope;
      offset -= slope * map.mean[column];
    }
    at_origin.push_back(offset);
  }
  return at_origin;
}

void map_features(const FeatureMap& map, const double* x, index_t n_samples, index_t n_features,
                  double* out, const Execution& execution) {
  const index_t width = map.width();
  constexpr double kDivision = 10.0;  // in multiply-adds
  const double work = kDivision * static_cast<double>(n_samples * width);
  const Execution mapping = limit_threads(execution, work);
  parallel_for(mapping, (n_samples + kTaskRows - 1) / kTaskRows, [&](index_t task) {
    const index_t end = std::min(n_samples, (task + 1) * kTaskRows);
    for (index_t i = task * kTaskRows; i < end; ++i)
      for (index_t j = 0; j < width; ++j) {
        const index_t column = map.columns[j];
        out[i * width + j] = (x[i * n_features + column] - map.mean[column]) / map.scale[column];
      }
  });
}

}  // namespace fctree::oblique
