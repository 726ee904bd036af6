// The ridge penalty chosen by leave-one-out (alpha = "loo").
//
// One eigendecomposition of the root's scatter gives the closed-form leave-one-out error of
// its ridge fit for every penalty of a grid: O(n d^2 + n d (number of penalties)).
#pragma once

#include "core/parallel.hpp"
#include "oblique/moments.hpp"
#include "oblique/ridge.hpp"

namespace fctree {

// The grid: half decades from 1e-4 to 1e3. Of penalties with equal error the largest.
double choose_alpha(const TrainingData& data, const NodeRows& node, const Moments& moments,
                    const Vector& origin, bool fit_intercept, const Execution& execution);

}  // namespace fctree
