// Split directions with few features (max_coef), for readability.
//
// Backward elimination: the features with the smallest |w_j| sd_j are dropped, and the direction
// is recomputed on the remaining ones from the node's moments, since coefficients of correlated
// features say little about each. One is dropped at a time, or an eighth of many: then all
// solutions together cost three times the first.
#pragma once

#include "oblique/open_node.hpp"
#include "oblique/split_search/curvature.hpp"

namespace fctree::oblique {

// Fills node.sparse_ridge and replaces node.curvature; its eigenproblem is `curvature`.
// O((K + n_curvature) d^3), for n < d O(K n^2 d).
void sparsify_directions(const GrowState& state, OpenNode& node,
                         const CurvatureProblem& curvature);

// The sparse ridge directions (d, K) of a node with fewer samples than features.
Matrix sparse_ridge_dual(const GrowState& state, const OpenNode& node);

// For nodes that draw features: their curvature directions on these alone.
void restrict_curvature(const GrowState& state, OpenNode& node, const CurvatureProblem& curvature);

}  // namespace fctree::oblique
