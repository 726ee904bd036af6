// Split directions with few features (max_coef), for readability.
//
// Backward elimination: the features with the smallest |w_j| sd_j are dropped, and the direction
// is recomputed on the remaining ones from the node's moments, since coefficients of correlated
// features say little about each. One is dropped at a time, or an eighth of many: then all
// solutions together cost three times the first.
#pragma once

#include <functional>
#include <vector>

#include "oblique/open_node.hpp"

namespace fctree::oblique {

using Features = std::vector<index_t>;  // numbers of features, ascending

// `direction` (d) with these values at the features, and zero elsewhere.
void put(const Features& features, const Vector& values, Eigen::Ref<Vector> direction);

// A direction (d) with at most max_coef features. solve(kept, previous) finds the coefficients of the features that are
// kept (.) from the direction before; size (d) is the variance of each feature, in any unit.
Vector eliminate(Vector direction, const Vector& size, index_t max_coef,
                 const std::function<Vector(const Features& kept, const Vector& previous)>& solve);

// Fills node.sparse_ridge. O(K d^3), for n < d O(K n^2 d).
void sparsify_ridge(const GrowState& state, OpenNode& node);

}  // namespace fctree::oblique
