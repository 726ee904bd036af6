// Split directions of few features (max_coef), for people to read.
//
// Features leave a direction, those first that bring least to its variation, |w_j| sd_j; what
// is left is solved anew on the remaining features, from the node's moments, before the next
// ones leave: a feature's coefficient says little about it while its doubles are there. One
// leaves at a time, or an eighth of many: then all solutions together cost three times the first.
#pragma once

#include "oblique/open_node.hpp"
#include "oblique/split_search/curvature.hpp"

namespace fctree::oblique {

// Fills node.sparse_ridge. O(K d^3), for n < d O(K n^2 d).
void sparsify_ridge(const GrowState& state, OpenNode& node);

// The sparse ridge directions (d, K) of a node that has fewer samples than features.
Matrix sparse_ridge_dual(const GrowState& state, const OpenNode& node);

// The curvature directions of some features, as many as there were of all or fewer.
Matrix curvature_on(const CurvatureProblem& problem, const std::vector<index_t>& features,
                    index_t n_wanted);

// A curvature direction of at most max_coef features. O(d^3).
Vector sparse_curvature(const CurvatureProblem& problem, const Vector& direction,
                        index_t max_coef);

}  // namespace fctree::oblique
