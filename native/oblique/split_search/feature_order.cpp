#include "oblique/split_search/feature_order.hpp"

#include <algorithm>

#include "core/buffer.hpp"

namespace fctree::oblique {

void FeatureOrder::resize(index_t n_samples, index_t n_features) {
  n_samples_ = n_samples;
  n_features_ = n_features;
  values_.reserve(n_samples * n_features);
  rows_.reserve(n_samples * n_features);
}

void FeatureOrder::sort(const double* x, index_t n_samples, index_t n_features,
                        const Execution& execution) {
  resize(n_samples, n_features);
  parallel_for(execution, n_features, [&](index_t feature) {
    std::vector<double> column(n_samples);
    for (index_t i = 0; i < n_samples; ++i) column[i] = x[i * n_features + feature];
    const index_t first = feature * n_samples;
    sort_scores(column.data(), nullptr, n_samples, values_.data() + first, rows_.data() + first);
  });
}

void FeatureOrder::take(const FeatureOrder& from, const std::vector<index_t>& features,
                        const double* weight, index_t n_used, const Execution& execution) {
  const auto is_used = [&](index_t row) { return weight == nullptr || weight[row] > 0.0; };
  if (from.is_empty()) return clear();
  resize(n_used, static_cast<index_t>(features.size()));
  parallel_for(execution, n_features_, [&](index_t feature) {
    const OrderedScores all = from.along(features[feature], 0, from.n_samples_);
    double* values = values_.data() + feature * n_used;
    std::int32_t* rows = rows_.data() + feature * n_used;
    index_t at = 0;
    for (index_t i = 0; at < n_used; ++i) {  // without a branch: which sample is used is random
      values[at] = all.values[i];
      rows[at] = all.rows[i];
      at += is_used(all.rows[i]);
    }
  });
}

OrderedScores FeatureOrder::along(index_t feature, index_t begin, index_t size) const {
  const index_t first = feature * n_samples_ + begin;
  return {values_.data() + first, rows_.data() + first, size};
}

void FeatureOrder::part(index_t feature, index_t begin, index_t size,
                        const std::uint8_t* goes_left) {
  double* values = values_.data() + feature * n_samples_ + begin;
  std::int32_t* rows = rows_.data() + feature * n_samples_ + begin;
  Buffer<double> right_values(size);
  Buffer<std::int32_t> right_rows(size);
  index_t n_left = 0, n_right = 0;
  for (index_t i = 0; i < size; ++i) {
    // Written to both sides, kept on one: a branch would be mispredicted half of the time.
    const double value = values[i];
    const std::int32_t row = rows[i];
    const index_t left = goes_left[row];
    values[n_left] = value;
    rows[n_left] = row;
    right_values[n_right] = value;
    right_rows[n_right] = row;
    n_left += left;
    n_right += 1 - left;
  }
  std::copy_n(right_values.data(), n_right, values + n_left);
  std::copy_n(right_rows.data(), n_right, rows + n_left);
}

}  // namespace fctree::oblique
