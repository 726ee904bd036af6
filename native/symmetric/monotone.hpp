// Leaf values of one tree that respect monotone constraints.
#pragma once

#include <vector>

#include "symmetric/leaf_rows.hpp"
#include "symmetric/leaf_values.hpp"

namespace fctree::symmetric {

// Changes the values (one output) as little as possible, in weighted squares, so that along each
// constrained feature they do not fall (direction 1) or rise (-1): the weighted isotonic regression over
// the leaves' partial order, by Dykstra's alternating projections with pool-adjacent-violators
// along each feature, and a last pass that makes the order exact. Leaves that no value of a
// feature can reach are unchanged. directions is (n_features,); parts_missing (levels,) is not 0
// where a split separates missing values from the rest.
void make_monotone(const std::vector<LevelSplit>& splits, const std::int8_t* directions,
                   const std::vector<std::uint8_t>& parts_missing, LeafValues& leaves);

}  // namespace fctree::symmetric
