// One tree grown on features of mean 0 and variance 1, and transformed back to the original
// features.
#pragma once

#include "core/parallel.hpp"
#include "oblique/feature_map.hpp"
#include "oblique/params.hpp"
#include "oblique/tree.hpp"
#include "ridge/moments.hpp"

namespace fctree::oblique {

using namespace ridge;

// As grow_tree does on the features themselves. A split along an axis has the coefficient 1.
ObliqueTreeArrays grow_standardized_tree(const TrainingData& data, const ObliqueParams& params,
                                         const Execution& execution,
                                         const LeftOut& left_out = {});

// Directions, thresholds and leaf models of a tree grown on all columns of `map` as functions of
// the original features.
void fold_back(const FeatureMap& map, ObliqueTreeArrays& tree);

}  // namespace fctree::oblique
