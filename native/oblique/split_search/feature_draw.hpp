// A few of the features, drawn without replacement.
#pragma once

#include <array>
#include <vector>

#include "core/rng.hpp"
#include "core/types.hpp"

namespace fctree::oblique {

// n_chosen of n_features features, ascending, every set equally likely; `at` numbers the draw.
// O(n_features log n_features).
std::vector<index_t> choose_features(const Random& random, const std::array<index_t, 2>& at,
                                     index_t n_chosen, index_t n_features);

}  // namespace fctree::oblique
