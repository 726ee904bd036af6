// The samples in the order of each feature: sorted once for many trees on the same features, so
// that a tree with axis splits sorts nothing. A tree takes its samples and partitions them with
// its nodes, keeping the order of every feature.
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "core/types.hpp"
#include "oblique/split_search/threshold.hpp"

namespace fctree::oblique {

class FeatureOrder {
 public:
  // Of x (n_samples, n_features), row-major; equal values by row number. O(d n log n), and 12
  // bytes per value.
  void sort(const double* x, index_t n_samples, index_t n_features, const Execution& execution);

  // Takes some features, and the samples of positive weight (n_used; all, if weight is null), from another
  // order, or nothing from an empty one. O(d n).
  void take(const FeatureOrder& from, const std::vector<index_t>& features, const double* weight,
            index_t n_used, const Execution& execution);

  // The samples at positions begin .. begin + size - 1 along a feature, ascending.
  OrderedScores along(index_t feature, index_t begin, index_t size) const;

  // Moves the samples of these positions that go left, by row number, before the others. O(size).
  void part(index_t feature, index_t begin, index_t size, const std::uint8_t* goes_left);

  index_t n_features() const { return n_features_; }
  bool is_empty() const { return n_samples_ == 0; }
  void clear() { n_samples_ = 0; }  // keeps its memory

 private:
  void resize(index_t n_samples, index_t n_features);

  index_t n_samples_ = 0;
  index_t n_features_ = 0;
  Buffer<double> values_;      // (n_features, n_samples)
  Buffer<std::int32_t> rows_;  // the same
};

}  // namespace fctree::oblique
