// The candidate thresholds of each feature: where its bins end.
//
// A feature with at most max_bins distinct values gets a threshold between every two of
// them. Another is cut so that bins weigh about the same: walking up the distinct values, a
// bin is closed where its weight comes closest to (weight left) / (bins left), so that values
// too heavy for a bin take one of their own and leave the other bins to the rest. Of more
// than kQuantileRows rows a fixed sample of that many is cut, one row from each of as many
// stretches; which values are distinct is always asked of all rows.
//
// A feature with missing values (among the rows that are looked at) has one more threshold,
// infinity: nothing is above it but what is missing.
#pragma once

#include <vector>

#include "core/parallel.hpp"
#include "symmetric/feature_matrix.hpp"

namespace fctree::symmetric {

constexpr index_t kQuantileRows = 200000;

struct ThresholdRules {
  index_t max_bins;
  std::uint64_t seed;
};

// thresholds of feature f: values[offsets[f]] .. values[offsets[f + 1]], ascending. A sample
// is above a threshold where x > threshold. Rows of weight 0 do not count.
// weight is (n_samples,) or null. O(n d).
struct CandidateThresholds {
  std::vector<double> values;
  std::vector<index_t> offsets;
};

// The rows that quantiles are taken of, ascending: all, or one of each of kQuantileRows stretches.
std::vector<index_t> quantile_rows(index_t n_samples, std::uint64_t seed);

// The distinct values of a feature, ascending, unless there are more than `limit`; rows of weight 0
// do not count. O(n log limit).
struct FewValues {
  std::vector<double> values;
  bool has_missing = false;
  bool too_many = false;
};

FewValues find_few_values(const FeatureMatrix& x, const double* weight, index_t feature,
                          index_t limit);

CandidateThresholds find_thresholds(const FeatureMatrix& x, const double* weight,
                                    const ThresholdRules& rules, const Execution& execution);

}  // namespace fctree::symmetric
