// Searching the best cut of every candidate direction of every node of a level.
#pragma once

#include "oblique/open_node.hpp"

namespace fctree {

// Fills candidates, curvature and cuts of the nodes that may be split. Costs, a node of n
// samples with C candidates: O(C n log n) for the constant criterion; for the ridge
// criterion O(C (n d^2 / 2 + max_thresholds d^3)); curvature adds O(K n d^2 / 2 + d^3).
void search_splits(GrowState& state, std::vector<OpenNode>& level);

// The scores of some rows of a node along a candidate direction.
void score_rows(const GrowState& state, const OpenNode& node, const Candidate& candidate,
                const NodeRows& rows, double* scores);

// The scores of all rows of a node: those that the state holds for a ridge direction, else
// computed into `storage`.
const double* candidate_scores(const GrowState& state, const OpenNode& node,
                               const Candidate& candidate, std::vector<double>& storage);

// The direction of a candidate in the raw features, (d).
Vector direction_of(const GrowState& state, const OpenNode& node, const Candidate& candidate);

}  // namespace fctree
