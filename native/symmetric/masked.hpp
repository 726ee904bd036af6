// Models without some of the features, many at once (importances by warm start and early stopping: Sun and
// Raskutti, 2025): the columns of a mask are replaced by one value each in all samples.
//
// Samples are binned once for all masks. A replaced column is constant, so no split can use it: it
// is left out, and no column is written. If the remaining features fit in fewer groups, their bins
// are copied into new groups, n bytes per feature, since histograms and scores cost the same for
// any group. When a continued model is evaluated on replaced samples, the codes of replaced
// columns come from one constant block. Masks are tasks; a mask's result does not depend on the
// others.
#pragma once

#include <vector>

#include "symmetric/boost.hpp"

namespace fctree::symmetric {

struct MaskedTask {
  BoostingTask boosting;            // its samples have neither initial scores nor masks
  const SymmetricTreesView* trees;  // the model to continue, or null for a new one
  FeatureMatrix test;
  const std::uint8_t* masked;  // (n_masks, n_features)
  const double* replacement;   // (n_features,)
  index_t n_masks;
};

// Of each mask: raw scores of the test samples (n_masks, n_test, n_outputs), rounds grown, and the
// time it took.
struct MaskedResult {
  std::vector<double> test_raw;
  std::vector<index_t> n_rounds;
  std::vector<double> seconds;
};

// With params.max_iter 0 the model is only evaluated. The listener is told the number of each mask
// that is done.
MaskedResult boost_masked(const MaskedTask& task, const BoostingParams& params,
                          const RoundListener& listener, const Execution& execution);

}  // namespace fctree::symmetric
