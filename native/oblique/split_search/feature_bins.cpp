#include "oblique/split_search/feature_bins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/argsort.hpp"
#include "core/lazy_order.hpp"
#include "oblique/split_search/ridge_split.hpp"
#include "ridge/row_blocks.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kMostBins = 256;  // the number of a bin is a byte
constexpr index_t kBlockRows = 256;

struct Bin {
  double lowest;
  double highest;
  double threshold;  // above it
};

// The rounding error of values, which are scores along their axis.
double noise_of(const std::vector<double>& values, double offset) {
  double squares = 0.0;
  for (const double value : values) squares += (value + offset) * (value + offset);
  return rounding_of_scores(std::sqrt(squares / static_cast<double>(values.size())));
}

std::vector<Bin> bins_of(const std::vector<double>& values, double offset) {
  const index_t n = static_cast<index_t>(values.size());
  LazyOrder order(values.data(), nullptr, n);
  const ModelCutRules rules = {{1, noise_of(values, offset)}, kMostBins - 1};
  std::vector<Bin> bins;
  index_t begin = 0;
  for (const index_t end : quantile_cuts(order, rules)) {
    bins.push_back({order.value(begin), order.value(end - 1), cut_between(order, end)});
    begin = end;
  }
  bins.push_back({order.value(begin), order.value(n - 1), std::numeric_limits<double>::infinity()});
  return bins;
}

}  // namespace

FeatureBins::FeatureBins(const TrainingData& features, const Vector& offset,
                         const Execution& execution) {
  const index_t n_features = offset.size();
  std::vector<std::int32_t> numbers(features.n_samples);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<std::vector<Bin>> found(n_features);
  parallel_for(execution, n_features, [&](index_t j) {
    std::vector<double> values(numbers.size());
    read_feature(features, {numbers.data(), features.n_samples}, j, values.data());
    found[j] = bins_of(values, offset[j]);
  });
  for (const std::vector<Bin>& bins : found)
    n_bins_ = std::max(n_bins_, static_cast<index_t>(bins.size()));
  const double infinity = std::numeric_limits<double>::infinity();
  for (std::vector<Bin>& bins : found) {
    bins.resize(n_bins_, {infinity, infinity, infinity});
    for (index_t b = 0; b < n_bins_; ++b) {
      lowest_.push_back(bins[b].lowest);
      highest_.push_back(bins[b].highest);
      if (b + 1 < n_bins_) thresholds_.push_back(bins[b].threshold);
    }
  }
}

double FeatureBins::threshold_between(index_t feature, index_t left, index_t right) const {
  return midpoint(highest_[feature * n_bins_ + left], lowest_[feature * n_bins_ + right]);
}

std::vector<std::uint8_t> FeatureBins::of(const TrainingData& features,
                                          const Execution& execution) const {
  const index_t n_features = this->n_features(), n_thresholds = n_bins_ - 1;
  std::vector<std::uint8_t> bins(features.n_samples * n_features);
  for_each_part(execution, features.n_samples, kBlockRows, [&](index_t, index_t begin, index_t end) {
    std::vector<double> buffer;
    const double* x = read_block(features, begin, end - begin, buffer);
    for (std::uint8_t* bin = bins.data() + begin * n_features; begin < end; ++begin)
      for (index_t j = 0; j < n_features; ++j)
        *bin++ = static_cast<std::uint8_t>(
            interval_of(thresholds_.data() + j * n_thresholds, n_thresholds, *x++));
  });
  return bins;
}

FeatureBins FeatureBins::of_features(const std::vector<index_t>& features) const {
  const auto append = [&](const std::vector<double>& from, index_t width, std::vector<double>& to) {
    for (const index_t j : features)
      to.insert(to.end(), from.begin() + j * width, from.begin() + (j + 1) * width);
  };
  FeatureBins chosen;
  chosen.n_bins_ = n_bins_;
  append(thresholds_, n_bins_ - 1, chosen.thresholds_);
  append(lowest_, n_bins_, chosen.lowest_);
  append(highest_, n_bins_, chosen.highest_);
  return chosen;
}

BinnedFeatures BinnedFeatures::of(const std::vector<index_t>& features) const {
  BinnedFeatures chosen = {bins.of_features(features), {}};
  const std::size_t d = bins.n_features(), n_samples = of_values.size() / d;
  chosen.of_values.reserve(n_samples * features.size());
  for (std::size_t i = 0; i < n_samples; ++i)
    for (const index_t j : features) chosen.of_values.push_back(of_values[i * d + j]);
  return chosen;
}

BinnedFeatures bin_features(const TrainingData& features, const Vector& offset,
                            const Execution& execution) {
  BinnedFeatures found = {FeatureBins(features, offset, execution), {}};
  found.of_values = found.bins.of(features, execution);
  return found;
}

}  // namespace fctree::oblique
