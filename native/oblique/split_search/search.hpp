// Search of the best cut of every candidate direction of every node of a level.
#pragma once

#include "oblique/open_node.hpp"

namespace fctree::oblique {

// Fills the directions and the candidates of the nodes that may be split. Costs, a node of n
// samples with C candidates: O(C n log n) for the constant criterion; for the ridge
// criterion O(C (n d (d / 2 + K) + max_thresholds d^2 (d + K))); curvature adds O(K n d^2 / 2 + d^3).
void search_splits(GrowState& state, std::vector<OpenNode>& level);

}  // namespace fctree::oblique
