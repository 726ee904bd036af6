// Which axes are worth an exact look by the ridge criterion, at O(n d) a node.
//
// If splitting at a cut of feature j helps two linear models, then the residuals r of the
// node's fit, or their products with what those models are linear in, do not sum to zero
// on one side of the cut. With the columns q = 1, the standardised scores of the node's ridge
// and curvature directions, and the standardised feature itself,
//     promise(j) = max over cuts of  sum |sum left of the cut of w q r|^2 / (s (1 - s)),
// s the share of the weight that is left. The scores catch interactions, which the feature
// alone does not show. Cuts are those between equal-width bins.
#pragma once

#include <vector>

#include "oblique/open_node.hpp"

namespace fctree {

// The params.n_screened most promising features, ascending; node.curvature is known.
// O(n d K (K + n_curvature + 2)).
std::vector<index_t> screen_axes(const GrowState& state, const OpenNode& node);

}  // namespace fctree
