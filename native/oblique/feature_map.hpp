// Maps the features of an ensemble to those of one of its trees: some columns, centred and divided
// by their standard deviations, so that the ridge penalty does not depend on units. Grown trees
// are transformed back to the original features.
#pragma once

#include <vector>

#include "core/matrix.hpp"
#include "core/parallel.hpp"

namespace fctree::oblique {

struct FeatureMap {
  std::vector<index_t> columns;  // ascending
  Vector mean;                   // of each feature of the ensemble
  Vector scale;

  index_t width() const { return static_cast<index_t>(columns.size()); }
};

// All columns; with standardize their weighted means and standard deviations, else 0 and 1.
// Throws std::invalid_argument where squares overflow. O(n d).
FeatureMap find_feature_map(const double* x, const double* weight, index_t n_samples,
                            index_t n_features, bool standardize);

// The same in two steps: sums over samples about one of them, `first`, and the map. Sums are the
// weight, the differences, their squares; `largest` (d) are absolute values.
struct FeatureSums {
  Vector sums;  // (1 + 2 d)
  Vector largest;
};
void add_features(const double* x, const double* weight, index_t n_samples, const Vector& first,
                  FeatureSums& total);
FeatureMap map_of_sums(const FeatureSums& total, const Vector& first);
FeatureMap identity_map(index_t n_features);

// The offset subtracted from each feature, in units of the mapped feature, (map.width()). Values
// on either side carry the rounding error of the original features.
Vector offset_of(const FeatureMap& map);

// out (n_samples, map.width()) from x (n_samples, n_features).
void map_features(const FeatureMap& map, const double* x, index_t n_samples, index_t n_features,
                  double* out, const Execution& execution);

// Appends linear functions of mapped features (.., map.width()), times `factor`, as functions of the
// features (.., d); returns what each is at the origin of the features, relative to the mapped one.
std::vector<double> append_linear(const std::vector<double>& from, const FeatureMap& map,
                                  double factor, std::vector<double>& to);

}  // namespace fctree::oblique
