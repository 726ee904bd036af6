// Whether a column varies: deviations no larger than its rounding are none.
#pragma once

namespace fctree {

// Of a column's standard deviation and its magnitude.
inline bool is_varying(double spread, double magnitude) {
  constexpr double kLeastSpread = 1e-12;
  return spread > kLeastSpread * magnitude;
}

}  // namespace fctree
