// Screening of very many features, each by itself (Fan and Lv 2008).
#pragma once

#include <vector>

#include "core/parallel.hpp"
#include "ridge/training_data.hpp"

namespace fctree::oblique {

using namespace ridge;

// The n_kept features, ascending, of which a quadratic function of one alone lowers the squared error of
// the mean most. Samples of weight 0 don't count. O(n d K).
std::vector<index_t> screen_marginally(const TrainingData& data, index_t n_kept,
                                       const Execution& team);

}  // namespace fctree::oblique
