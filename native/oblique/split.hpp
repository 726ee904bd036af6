// Carries out the splits of a level: partitions the samples, sums the children's moments, fits
// their models and, where splits are judged, runs the leave-one-out test.
#pragma once

#include <vector>

#include "oblique/open_node.hpp"

namespace fctree::oblique {

// The threads for so many systems of a node's models, each in a task.
Execution for_systems(const GrowState& state, index_t n_systems);

// A child without its samples: what it has of the node, whose split may be along the ridge direction of an output (-1: not).
OpenNode child_of(const GrowState& state, const OpenNode& node, index_t output = -1);

// The node's own ridge model, shrunk to its prior.
void fit_node(const GrowState& state, OpenNode& node);

// Orders the rows of each split node left side first and opens its children, fitted if they need a
// model. O(n d^2 / 4) for the moments, and O(n d^2), of constants O(n d), for the leave-one-out
// test that sets `accepted`.
void carry_out(GrowState& state, std::vector<Split>& splits);

}  // namespace fctree::oblique
