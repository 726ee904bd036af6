// The best cut of a node between bins of a feature (feature_bins.hpp) under the constant criterion.
#pragma once

#include "oblique/feature_bins.hpp"
#include "oblique/open_node.hpp"

namespace fctree {

// sums (n_bins, 2 + K): of each bin the number of samples, their weight, and the sums of w y.
Cut best_between_bins(const GrowState& state, const OpenNode& node, const double* sums,
                      const FeatureBins& bins, index_t feature);

}  // namespace fctree
