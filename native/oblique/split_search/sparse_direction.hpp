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

// Fills node.sparse_ridge. O(K d^3), for n < d O(K n^2 d).
void sparsify_ridge(const GrowState& state, OpenNode& node);

// The sparse ridge directions (d, K) of a node with fewer samples than features.
Matrix sparse_ridge_dual(const GrowState& state, const OpenNode& node);

// The curvature directions of some features, at most as many as of all.
Matrix curvature_on(const CurvatureProblem& problem, const std::vector<index_t>& features,
                    index_t n_wanted);

// A curvature direction of at most max_coef features. O(d^3).
Vector sparse_curvature(const CurvatureProblem& problem, const Vector& direction,
                        index_t max_coef);

}  // namespace fctree::oblique
