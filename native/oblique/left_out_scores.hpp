// Leave-one-out predictions of a leaf's model for its samples: class probabilities are calibrated
// on them.
//
// With h the sample's leverage, its targets y and scores s: (s - h y) / (1 - h). One unit of
// weight is left out, or all of a smaller weight, so that two equal samples are one of weight 2.
#pragma once

#include "oblique/open_node.hpp"

namespace fctree::oblique {

// Fills the rows of state.left_out that belong to a leaf, the `number`th; NaN where a score is
// undefined: the model interpolates the sample whatever its target is. O(size d^2) and a
// factorisation.
void find_left_out_scores(const GrowState& state, const OpenNode& leaf, index_t number);

}  // namespace fctree::oblique
