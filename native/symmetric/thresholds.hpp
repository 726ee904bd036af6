// The candidate thresholds of each feature: where its bins end.
//
// A feature with at most max_bins distinct values gets a threshold between every two of them.
// Other features get bins of about equal weight: going up the distinct values, a bin is closed
// where its weight is closest to (remaining weight) / (remaining bins), so that values too heavy
// for a bin get their own and leave the other bins to the rest. With more than kQuantileRows rows,
// quantiles are those of a fixed subsample of that many, one row from each of as many equal
// ranges; the set of distinct values is always computed from all rows.
//
// A feature with missing values (among these rows) has one more threshold, infinity: only missing
// values are above it.
#pragma once

#include <vector>

#include "core/parallel.hpp"
#include "symmetric/feature_matrix.hpp"

namespace fctree::symmetric {

constexpr index_t kQuantileRows = 65536;  // 256 of a bin, or more

struct ThresholdRules {
  index_t max_bins;
  std::uint64_t seed;
};

// thresholds of feature f: values[offsets[f]] .. values[offsets[f + 1]], ascending. A sample
// is above a threshold where x > threshold. weight is (n_samples,), positive, or null. O(n d).
struct CandidateThresholds {
  std::vector<double> values;
  std::vector<index_t> offsets;
};

// The rows used for quantiles, ascending: all, or one from each of kQuantileRows equal ranges.
std::vector<index_t> quantile_rows(index_t n_samples, std::uint64_t seed);

// The distinct values of a feature, ascending, unless there are more than `limit`. O(n log limit).
struct FewValues {
  std::vector<double> values;
  bool has_missing = false;
  bool too_many = false;
};

FewValues find_few_values(const FeatureMatrix& x, index_t feature, index_t limit);

CandidateThresholds find_thresholds(const FeatureMatrix& x, const double* weight,
                                    const ThresholdRules& rules, const Execution& execution);

}  // namespace fctree::symmetric
