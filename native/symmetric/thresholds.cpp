#include "symmetric/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/argsort.hpp"
#include "core/buffer.hpp"
#include "core/rng.hpp"

namespace fctree::symmetric {

namespace {

// Features that are copied together from rows: so many numbers are in a cache line.
constexpr index_t kFeaturesTogether = 16;
constexpr index_t kRowsOfTask = 4096;
// Number of parts of the features per thread, for load balance.
constexpr index_t kPartsForThread = 4;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The distinct values of a feature with their weights, ascending; missing ones aside.
struct DistinctValues {
  index_t n = 0;
  Buffer<double> value;
  Buffer<double> weight;
  bool has_missing = false;

  // For so many values at most.
  void start(index_t most) {
    n = 0;
    value.reserve(most);
    weight.reserve(most);
    has_missing = false;
  }
  void add(double v, double w) {
    if (n > 0 && value[n - 1] == v) {
      weight[n - 1] += w;
      return;
    }
    value[n] = v;
    weight[n++] = w;
  }
};

// A threshold between two neighbouring values: only infinity is above the largest double.
double threshold_between(double lower, double upper) {
  if (lower == -kInfinity) return -kInfinity;
  if (upper == kInfinity) return std::numeric_limits<double>::max();
  return midpoint(lower, upper);
}

// Sorts one feature after the other in the same memory: repeated allocation could cost as much as
// the sorting.
class Sorter {
 public:
  // Sorted values of a feature, value(i) in row rows[i]; valid until the next call.
  template <class Value>
  const DistinctValues& sort(const Value& value, const double* weight, const std::vector<index_t>& rows) {
    const auto n_rows = static_cast<index_t>(rows.size());
    distinct_.start(n_rows);
    values_.reserve(n_rows);
    if (weight != nullptr) weights_.reserve(n_rows);
    index_t n = 0;
    double below = 0.0, above = 0.0;  // weights of -inf and inf, which do not sort by digits
    for (index_t i = 0; i < n_rows; ++i) {
      const double v = value(i), w = weight == nullptr ? 1.0 : weight[rows[i]];
      if (std::isnan(v)) {
        distinct_.has_missing = true;
        continue;
      }
      if (std::isinf(v)) {
        (v < 0.0 ? below : above) += w;
        continue;
      }
      if (weight != nullptr) weights_[n] = w;
      values_[n++] = v;
    }
    if (below > 0.0) distinct_.add(-kInfinity, below);
    add_ordinary(n, weight != nullptr);
    if (above > 0.0) distinct_.add(kInfinity, above);
    return distinct_;
  }

 private:
  void add_ordinary(index_t n, bool weighted) {
    items_.reserve(n);
    spare_.reserve(n);
    const std::uint64_t* order = argsort(values_.data(), n, {items_.data(), spare_.data()});
    for (index_t i = 0; i < n; ++i) {
      const std::uint32_t at = position(order[i]);
      distinct_.add(values_[at], weighted ? weights_[at] : 1.0);
    }
  }

  Buffer<double> values_, weights_;
  Buffer<std::uint64_t> items_, spare_;
  DistinctValues distinct_;
};

std::vector<double> between_all(const std::vector<double>& values) {
  std::vector<double> thresholds;
  for (std::size_t i = 1; i < values.size(); ++i)
    thresholds.push_back(threshold_between(values[i - 1], values[i]));
  return thresholds;
}

void add_missing_threshold(bool has_missing, bool has_values, std::vector<double>& thresholds) {
  if (has_missing && has_values) thresholds.push_back(kInfinity);
}

std::vector<double> quantile_thresholds(const DistinctValues& distinct, index_t max_bins) {
  const index_t n = distinct.n;
  double left = 0.0;
  for (index_t i = 0; i < n; ++i) left += distinct.weight[i];
  std::vector<double> thresholds;
  double bin = 0.0;
  for (index_t i = 0; i + 1 < n; ++i) {
    const index_t bins_left = max_bins - static_cast<index_t>(thresholds.size());
    if (bins_left == 1) break;
    const double target = left / static_cast<double>(bins_left);
    bin += distinct.weight[i];
    // Closed here if that is nearer to the target than with the next value inside.
    const double next = distinct.weight[i + 1];
    const bool all_needed = n - 1 - i < bins_left;
    if (bin + 0.5 * next < target && !all_needed) continue;
    thresholds.push_back(threshold_between(distinct.value[i], distinct.value[i + 1]));
    left -= bin;
    bin = 0.0;
  }
  return thresholds;
}

}  // namespace

std::vector<index_t> quantile_rows(index_t n_samples, std::uint64_t seed) {
  std::vector<index_t> rows(std::min(n_samples, kQuantileRows));
  const Random random(seed, Purpose::threshold_rows);
  const index_t m = static_cast<index_t>(rows.size());
  for (index_t i = 0; i < m; ++i) {
    const index_t begin = n_samples * i / m, end = n_samples * (i + 1) / m;
    const double u = end - begin > 1 ? random.uniform(static_cast<std::uint32_t>(i), 0, 0) : 0.0;
    rows[i] = begin + static_cast<index_t>(u * static_cast<double>(end - begin));
  }
  return rows;
}

FewValues find_few_values(const FeatureMatrix& x, index_t feature, index_t limit) {
  FewValues few;
  std::vector<double>& values = few.values;
  for (index_t row = 0; row < x.n_samples; ++row) {
    if (row % kRowsOfTask == 0) check_interrupt();
    const double v = x(row, feature);
    if (std::isnan(v)) {
      few.has_missing = true;
      continue;
    }
    const auto at = std::lower_bound(values.begin(), values.end(), v);
    if (at != values.end() && *at == v) continue;
    if (static_cast<index_t>(values.size()) == limit) {
      few.too_many = true;
      return few;
    }
    values.insert(at, v);
  }
  return few;
}

CandidateThresholds find_thresholds(const FeatureMatrix& x, const double* weight,
                                    const ThresholdRules& rules, const Execution& execution) {
  const std::vector<index_t> rows = quantile_rows(x.n_samples, rules.seed);
  const index_t n = static_cast<index_t>(rows.size());
  std::vector<std::vector<double>> found(x.n_features);
  const auto find = [&](index_t feature, const auto& value, Sorter& sorter) {
    if (n < x.n_samples) {
      const FewValues few = find_few_values(x, feature, rules.max_bins);
      if (!few.too_many) {
        found[feature] = between_all(few.values);
        add_missing_threshold(few.has_missing, !few.values.empty(), found[feature]);
        return;
      }
    }
    const DistinctValues& distinct = sorter.sort(value, weight, rows);
    found[feature] = quantile_thresholds(distinct, rules.max_bins);
    add_missing_threshold(distinct.has_missing, distinct.n > 0, found[feature]);
  };
  const double work = 20.0 * static_cast<double>(n) * static_cast<double>(x.n_features);
  const Execution limited = limit_threads(execution, work);
  const index_t together = std::min(x.n_features, std::max<index_t>(kFeaturesTogether, limited.n_threads));
  Buffer<double> copies(x.by_column() ? 0 : together * n);  // (together, n)
  for (index_t first = 0; first < x.n_features; first += together) {
    const index_t size = std::min(together, x.n_features - first);
    for_each_part(limited, copies.empty() ? 0 : n, kRowsOfTask, [&](index_t, index_t begin, index_t end) {
      for (index_t i = begin; i < end; ++i)
        for (index_t f = 0; f < size; ++f) copies[f * n + i] = x(rows[i], first + f);
    });
    const Partition parts =
        partition_range(size, 1, limited.n_threads == 1 ? 1 : kPartsForThread * limited.n_threads);
    parallel_for(limited, parts.n_parts, [&](index_t part) {
      Sorter sorter;
      for (index_t f = parts.begin(part); f < parts.end(part); ++f) {
        check_interrupt();
        const auto value = [&](index_t i) {
          return copies.empty() ? x(rows[i], first + f) : copies[f * n + i];
        };
        find(first + f, value, sorter);
      }
    });
  }
  CandidateThresholds thresholds;
  thresholds.offsets.push_back(0);
  for (const std::vector<double>& own : found) {
    thresholds.values.insert(thresholds.values.end(), own.begin(), own.end());
    thresholds.offsets.push_back(static_cast<index_t>(thresholds.values.size()));
  }
  return thresholds;
}

}  // namespace fctree::symmetric
