// Scores of local samples along the directions of a node.
#pragma once

#include <vector>

#include "oblique/open_node.hpp"

namespace fctree::oblique {

using namespace ridge;

// The scores of some rows along a candidate's direction (d), which is not read of an axis.
void score_rows(const TrainingData& data, const NodeRows& rows, const SplitInfo& candidate,
                const Vector& direction, double* scores);

// The scores of some rows of a node along a candidate direction.
void score_rows(const GrowState& state, const OpenNode& node, const SplitInfo& candidate,
                const NodeRows& rows, double* scores);

// Those of all rows of a node that are stored in the state, for a ridge direction; else null.
const double* known_scores(const GrowState& state, const OpenNode& node, const SplitInfo& candidate);

// The scores of all rows of a node: stored in the state for a ridge direction, else computed into
// `storage`.
const double* candidate_scores(const GrowState& state, const OpenNode& node,
                               const SplitInfo& candidate, std::vector<double>& storage);

}  // namespace fctree::oblique
