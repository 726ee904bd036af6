// A linear model of all features and a tree of some on what it leaves of the targets, as one tree: the models of its leaves are
// the sums of both.
#pragma once

#include <vector>

#include "oblique/tree.hpp"

namespace fctree::ensembles {

using namespace oblique;

// `model` is a tree without splits. `tree` has linear leaves of the features at these places among those of the model. The sum has
// the model's features, the splits of the tree, and the importances of both; its node means are still those of the tree.
ObliqueTreeArrays sum_of(const ObliqueTreeArrays& model, ObliqueTreeArrays tree, const std::vector<index_t>& places);

}  // namespace fctree::ensembles
