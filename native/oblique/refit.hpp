// A tree whose splits were found on some of the samples, fitted to all of them: the moments of each leaf are summed once,
// and those of a node are its children's together. O(n d^2 / 2 + nodes d^3 / 3), and nothing is searched.
#pragma once

#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "oblique/params.hpp"
#include "oblique/tree.hpp"
#include "ridge/training_data.hpp"

namespace fctree::oblique {

using namespace ridge;

class NodeStatistics;

// leaf (n_samples): the ids of the leaves that the samples reach, of `splits` and after it of the result, which lacks splits
// with fewer than min_samples_leaf on a side. Of the ridge criterion.
ObliqueTreeArrays refit_tree_on_team(const ObliqueTreeArrays& splits, const TrainingData& data, const ObliqueParams& params,
                                     NodeStatistics& statistics, const Execution& team, Buffer<index_t>& leaf);

}  // namespace fctree::oblique
