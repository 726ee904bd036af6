// Bins of features, for axis splits under the constant criterion: for many or distributed samples,
// such a tree needs only the histograms (histogram.hpp).
#pragma once

#include <vector>

#include "core/matrix.hpp"
#include "core/parallel.hpp"
#include "ridge/training_data.hpp"

namespace fctree::oblique {

using namespace ridge;

// All features have the same number of bins; surplus ones of a feature are empty and come last.
class FeatureBins {
 public:
  FeatureBins() = default;  // of no features
  // From the features of a sample, from which offset (d) was subtracted (offset_of): one bin per distinct
  // value if a feature has at most 256, else bins with about equally many samples. O(d n).
  FeatureBins(const TrainingData& features, const Vector& offset, const Execution& execution);

  index_t n_bins() const { return n_bins_; }
  // The bins of features (n_samples, n_features): the numbers of thresholds below their values.
  std::vector<std::uint8_t> of(const TrainingData& features, const Execution& execution) const;
  // Those of some of the features.
  FeatureBins of_features(const std::vector<index_t>& features) const;
  index_t n_features() const { return static_cast<index_t>(highest_.size()) / n_bins_; }
  // The threshold between two bins of a feature, all bins between which are empty.
  double threshold_between(index_t feature, index_t left, index_t right) const;

 private:
  index_t n_bins_ = 1;
  std::vector<double> thresholds_;  // (n_features, n_bins - 1), ascending, padded with infinity
  std::vector<double> lowest_;  // of the sample in each bin, (n_features, n_bins)
  std::vector<double> highest_;
};

// Bins of features with those of all their values.
struct BinnedFeatures {
  FeatureBins bins;
  std::vector<std::uint8_t> of_values;  // (n_samples, n_features)

  // Of some of the features. O(d n).
  BinnedFeatures of(const std::vector<index_t>& features) const;
};
BinnedFeatures bin_features(const TrainingData& features, const Vector& offset,
                            const Execution& execution);

}  // namespace fctree::oblique
