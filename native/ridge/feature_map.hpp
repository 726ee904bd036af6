// Maps the features of an ensemble to those of one of its trees: some columns, centred and divided
// by their standard deviations, so that the ridge penalty does not depend on units. Grown trees
// are transformed back to the original features.
//
// Constant columns are left out here, once for all: nothing that counts features may count them. Only a model without
// an intercept takes them, as they are its intercept.
#pragma once

#include <vector>

#include "core/block_sums.hpp"
#include "core/matrix.hpp"
#include "core/parallel.hpp"
#include "core/table.hpp"
#include "ridge/training_data.hpp"

namespace fctree::ridge {

struct FeatureMap {
  std::vector<index_t> columns;  // ascending
  Vector mean;                   // of each feature of the ensemble
  Vector scale;

  index_t width() const { return static_cast<index_t>(columns.size()); }
};

std::vector<index_t> all_columns(index_t n_features);
// The columns whose values differ among the samples of positive weight, in all places, or all columns. O(n + d) where the first
// samples tell, O(n d) at worst.
std::vector<index_t> varying_columns(const Table& x, const double* weight, index_t n_samples, const Execution& execution);
// Which features a model centres and scales: none without an intercept.
struct Scaling {
  bool fit_intercept;
  bool standardizes;
};
// The samples here.
struct WeightedRows {
  Table x;
  const double* weight;  // or null
  index_t n_samples;
  const RowBlocks* blocks = nullptr;  // of all places, where there are others
};
// The `varying` columns, or all without an intercept; where `scaling` standardizes, their weighted means and standard
// deviations, rounded, else 0 and 1. Throws std::invalid_argument where squares overflow. O(d); O(n d) where it does.
FeatureMap find_feature_map(const WeightedRows& rows, const std::vector<index_t>& varying, Scaling scaling,
                            const Execution& execution);
FeatureMap identity_map(index_t n_features);

// Places of columns among others, which have them; both ascending.
std::vector<index_t> places_of(const std::vector<index_t>& columns, const std::vector<index_t>& among);

// The offset subtracted from each feature, in units of the mapped feature, (map.width()). Values
// on either side carry the rounding error of the original features.
Vector offset_of(const FeatureMap& map);

// out (n_samples, map.width()) from x (n_samples, d).
void map_features(const FeatureMap& map, const Table& x, index_t n_samples, double* out,
                  const Execution& execution);

// The mapped features of a table, which are found anew whenever they are read.
class MappedTable final : public FeatureReader {
 public:
  MappedTable() = default;  // of no features
  MappedTable(const FeatureMap& map, const Table& table);
  void read(const NodeRows& rows, double* out) const override;
  void read_feature(const NodeRows& rows, index_t feature, double* out) const override;
  void read_all(index_t n_samples, double* out, const Execution& execution) const;

 private:
  index_t width() const { return static_cast<index_t>(columns_.size()); }
  void map_row(index_t row, double* buffer, double* out) const;

  Table table_ = {};
  std::vector<index_t> columns_;
  std::vector<double> mean_;  // of each column
  std::vector<double> scale_;
};

// Appends linear functions of mapped features (.., map.width()), times `factor`, as functions of the
// features (.., d); returns what each is at the origin of the features, relative to the mapped one.
std::vector<double> append_linear(const std::vector<double>& from, const FeatureMap& map,
                                  double factor, std::vector<double>& to);

}  // namespace fctree::ridge
