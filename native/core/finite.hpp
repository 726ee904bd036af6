// Whether all of many numbers are finite.
#pragma once

#include "core/parallel.hpp"

namespace fctree {

bool are_finite(const double* values, index_t n, const Execution& execution);
bool are_finite(const float* values, index_t n, const Execution& execution);

}  // namespace fctree
