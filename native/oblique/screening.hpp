// Which axes are worth an exact look by the ridge criterion, at O(n d) a node.
//
// An axis matters if the residuals of the node's fit change along it in a way that two
// linear models would catch: they bend or jump with the feature itself, or their slope in
// another feature does. The first is the best decrease of the residuals' squares by two
// lines in the feature, one on each side of a cut between equal-width bins; the second is
// left to the curvature directions.
#pragma once

#include <vector>

#include "oblique/open_node.hpp"

namespace fctree {

// The params.n_screened most promising features, ascending.
std::vector<index_t> screen_axes(const GrowState& state, const OpenNode& node);

}  // namespace fctree
