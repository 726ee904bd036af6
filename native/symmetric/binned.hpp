// The features as bin codes. The code of a value is the number of the feature's thresholds
// below it; missing values have a code above all others.
//
// Features form groups of at most kCellLanes, whose codes for one sample are adjacent, so that one
// load of eight bytes serves a whole group: codes[offset + width * sample + lane].
// The matrix takes n * d bytes.
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "symmetric/feature_matrix.hpp"
#include "symmetric/histogram_kernels.hpp"

namespace fctree::symmetric {

struct FeatureGroup {
  index_t first_feature;
  index_t width;         // features in the group
  index_t n_codes;       // ordinary codes 0 .. n_codes - 1, the most of any of its features
  bool has_missing;
  index_t offset;        // of the group's codes in BinnedMatrix::codes
  index_t missing_code() const { return n_codes; }
};

class BinnedMatrix {
 public:
  // The samples of the matrices x follow each other. Few threads have as many groups each, if there are
  // features enough.
  BinnedMatrix(const std::vector<FeatureMatrix>& x, const double* thresholds,
               const index_t* offsets, const Execution& execution);
  // Some features of another matrix, in groups for one thread. Copies n bytes a feature.
  BinnedMatrix(const BinnedMatrix& from, const std::vector<index_t>& features);

  index_t n_samples() const { return n_samples_; }
  index_t n_features() const { return n_features_; }
  const std::vector<FeatureGroup>& groups() const { return groups_; }
  index_t group_index(index_t feature) const { return group_index_[feature]; }
  const FeatureGroup& group_of(index_t feature) const { return groups_[group_index_[feature]]; }
  // A feature's place in its group.
  index_t lane_of(index_t feature) const { return feature - group_of(feature).first_feature; }
  index_t n_cuts(index_t feature) const { return n_cuts_[feature]; }
  // Those between values: the last of all may part missing values from the others.
  index_t n_cuts_of_values(index_t feature) const { return n_cuts_of_values_[feature]; }
  bool has_missing(index_t feature) const { return has_missing_[feature] != 0; }
  // Whether more than half of the feature's values, of all places, have a code above this one.
  bool most_are_above(index_t feature, index_t code) const { return code < majority_[feature]; }

  // The codes of `feature`: that of sample i at [i * group_of(feature).width].
  const std::uint8_t* codes(index_t feature) const {
    return codes_.data() + group_of(feature).offset + lane_of(feature);
  }
  const std::uint8_t* codes(const FeatureGroup& group) const {
    return codes_.data() + group.offset;
  }

 private:
  void lay_out_groups(index_t n_threads);
  void make_room();
  void find_codes(const FeatureMatrix& x, index_t first, const double* thresholds,
                  const index_t* offsets, const Execution& execution);
  void find_majorities(const Execution& execution);

  index_t n_samples_;
  index_t n_features_;
  std::vector<FeatureGroup> groups_;
  std::vector<index_t> group_index_;
  std::vector<index_t> n_cuts_, n_cuts_of_values_;
  std::vector<std::uint8_t> has_missing_;
  std::vector<index_t> majority_;  // (n_features): the highest code that more than half of the values have or exceed
  Buffer<std::uint8_t> codes_;
};

}  // namespace fctree::symmetric
