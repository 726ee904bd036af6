// Lengths and multipliers of rows: the same code for CPUs and GPUs.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/pointwise.hpp"

#if defined(__CUDACC__)
#define FCTREE_DEVICE __host__ __device__
#else
#define FCTREE_DEVICE
#endif

namespace fctree::kernels {

Normalisation normalisation_of(KernelKind kind);

struct RowScaling {
  Normalisation how;
  double scale;  // a
};

inline RowScaling scaling_of(KernelKind kind, double scale) { return {normalisation_of(kind), scale}; }

// The longest scaled row a |x| whose gap, 1 / (2 a^2 |x|^2 + 1), T can hold.
template <class T>
FCTREE_DEVICE constexpr double largest_norm() {
  return sizeof(T) == sizeof(double) ? 1e150 : 1e18;
}

struct RowLength {
  double multiplier;  // u = multiplier * x
  double gap;
  double factor;
};

// |x|, by a power of two that brings the largest element near 1: without intermediate overflow or
// underflow. NaN if the row has one.
template <class T>
FCTREE_DEVICE inline double row_norm(const T* row, std::int64_t n_features) {
  double largest = 0.0;
  for (std::int64_t j = 0; j < n_features; ++j) {
    const double size = std::abs(static_cast<double>(row[j]));
    largest = largest < size ? size : largest;
  }
  int exponent;
  std::frexp(largest, &exponent);
  // Twice half the power: a single factor could overflow for subnormal rows.
  const double half = std::ldexp(1.0, -(exponent / 2));
  const double rest = std::ldexp(1.0, -(exponent - exponent / 2));
  double sum = 0.0;
  for (std::int64_t j = 0; j < n_features; ++j) {
    const double x = static_cast<double>(row[j]) * half * rest;
    sum += x * x;
  }
  return std::sqrt(sum) / half / rest;
}

// The length that must be at most largest_norm, from |x|.
FCTREE_DEVICE inline double limited_length(double norm, const RowScaling& scaling) {
  return scaling.how == Normalisation::unit ? norm : scaling.scale * norm;
}

// Multiplier, gap and factor from |x|.
FCTREE_DEVICE inline RowLength normalise_row(double norm, const RowScaling& scaling) {
  if (scaling.how == Normalisation::none) return {1.0, 0.0, 1.0};
  if (scaling.how == Normalisation::unit) {
    // A row this short has no meaningful direction.
    if (norm < 1e-300) return {0.0, 1.0, 0.0};
    return {1.0 / norm, 0.0, norm};
  }
  if (scaling.how == Normalisation::scaled) return {scaling.scale, 0.0, 1.0};
  const double scaled = scaling.scale * norm;
  const double square = scaled * scaled + 0.5;
  return {scaling.scale / std::sqrt(square), 0.5 / square, 1.0};
}

}  // namespace fctree::kernels
