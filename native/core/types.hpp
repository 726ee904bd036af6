// The index type of all arrays.
#pragma once

#include <cstdint>

namespace fctree {

using index_t = std::int64_t;

}  // namespace fctree
