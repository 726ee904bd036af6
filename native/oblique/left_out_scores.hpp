// What a leaf's model would have answered to each of its samples without having seen it: the
// scores that probabilities of classes are calibrated to.
//
// With h the sample's leverage, all of its targets y and scores s: (s - h y) / (1 - h). One unit of
// weight is left out, or all of a smaller weight, so that two equal samples are one of weight 2.
#pragma once

#include "oblique/open_node.hpp"

namespace fctree::oblique {

// Fills the rows of scores (n, K) that belong to a leaf; NaN where a model does not say: it passes
// through the sample whatever its target is. O(size d^2) and a factorisation.
void find_left_out_scores(const GrowState& state, const OpenNode& leaf, double* scores);

}  // namespace fctree::oblique
