// The samples that trees grow on, and those of a node.
#pragma once

#include <algorithm>

#include "core/numbers_where.hpp"
#include "core/types.hpp"

namespace fctree::ridge {

// The samples of a node: their row numbers, ascending.
struct NodeRows {
  const std::int32_t* rows = nullptr;
  index_t size = 0;
};

// Features that are not in memory as trees take them, read for some rows at a time.
class FeatureReader {
 public:
  virtual ~FeatureReader() = default;
  virtual void read(const NodeRows& rows, double* out) const = 0;  // (rows.size, n_features)
  virtual void read_feature(const NodeRows& rows, index_t feature, double* out) const = 0;
};

struct TrainingData {
  const double* x;       // (n_samples, n_features), row-major
  const double* y;       // (n_samples, n_outputs), row-major
  const double* weight;  // (n_samples,) positive where used, or null for ones
  index_t n_samples;
  index_t n_features;
  index_t n_outputs;
  const double* count = nullptr;  // (n_samples,) how many samples a row is, or null for its weight
  bool has_curvatures = false;  // in the weights: what counts as one sample has the mean weight of a sample then
  const FeatureReader* features = nullptr;  // in place of x: only sums and splits along axes take these (row_blocks.hpp)
  const index_t* groups = nullptr;   // of all features of a table: those of a number are one in importances; or null
  const index_t* columns = nullptr;  // (n_features,) of these features in the table, or null where they are the same

  double weight_of(index_t row) const { return weight == nullptr ? 1.0 : weight[row]; }
  // The weight of one of the samples that a row is: of the row where it is less than one.
  double unit_of(index_t row) const {
    const double w = weight_of(row);
    return w / std::max(count == nullptr ? w : count[row], 1.0);
  }
};

// The numbers of the rows that count.
inline Buffer<std::int32_t> weighted_rows(const TrainingData& data, const Execution& execution) {
  return numbers_where<std::int32_t>(execution, data.n_samples, [&](index_t i) { return data.weight_of(i) > 0.0; });
}

}  // namespace fctree::ridge
