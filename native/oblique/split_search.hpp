// Searching the best cut of every candidate direction of every node of a level.
#pragma once

#include "oblique/open_node.hpp"
#include "oblique/side_loss.hpp"

namespace fctree {

// What the ridge criterion prepares once a node, for all its candidates.
struct ModelSearch {
  ChildModels models;
  RowMatrix products;  // of the node's samples, about models.origin
};

// Fills candidates, curvature and cuts of the nodes that may be split. Costs, a node of n
// samples with C candidates: O(C n log n) for the constant criterion; for the ridge
// criterion O(C (n d^2 / 2 + max_thresholds d^3)); curvature adds O(K n d^2 / 2 + d^3).
void search_splits(GrowState& state, std::vector<OpenNode>& level);

// Which cuts along a direction count.
CutRules cut_rules(const GrowState& state, const OpenNode& node, const Vector& direction);

// The direction of a candidate in the raw features, (d).
Vector direction_of(const GrowState& state, const OpenNode& node, const Candidate& candidate);

}  // namespace fctree
