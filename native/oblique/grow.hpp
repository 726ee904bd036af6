// Growing one oblique tree (FC-ODT: Lyu et al. 2025, "Enhance Learning Efficiency of Oblique
// Decision Tree via Feature Concatenation", arXiv 2502.00465).
//
// The tree grows level by level. For all open nodes of a level at once:
//   1. search   score the samples along the candidate directions and find the best cut of
//               each (search.hpp): O(n d) and a sort for the paper's rule
//   2. split    partition the samples, sum the smaller child's moments, subtract for the larger
//               one, fit the children's ridge models (split.hpp): O(n d^2 / 4 + nodes d^3 / 3)
//   3. record   the arrays of the tree
// Each step is parallel loops over tasks cut by the data. Memory beyond the input: O(n) and
// min(2^level, n / d) d^2 for the moments of a level.
#pragma once

#include "core/parallel.hpp"
#include "oblique/params.hpp"
#include "oblique/tree.hpp"
#include "ridge/training_data.hpp"

namespace fctree::oblique {

using namespace ridge;

class NodeStatistics;

// On threads that are there already, by statistics of these samples and maybe of others in other places. Samples of
// weight 0 are left out. Throws std::invalid_argument if none is left, or if squares of the data overflow.
ObliqueTreeArrays grow_tree(const TrainingData& data, const ObliqueParams& params, NodeStatistics& statistics,
                            const Execution& team, const LeftOut& left_out = {});

}  // namespace fctree::oblique
