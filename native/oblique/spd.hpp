// Small dense algebra on symmetric positive definite matrices, for the thousands of ridge
// fits that choosing a split by its children's models takes. Matrices are row-major with
// rows of spd_stride(d) doubles, upper triangle; one table of functions per instruction
// set (core/cpu.hpp).
#pragma once

#include <cstdint>

namespace fctree {

constexpr std::int64_t spd_stride(std::int64_t d) { return (d + 7) / 8 * 8; }

struct SpdKernels {
  // inverse = U^{-1} (upper, zeros below), A = U'U; A is destroyed. False if A is not
  // positive definite. O(d^3 / 3).
  bool (*invert_factor)(double* a, std::int64_t d, double* inverse);
  // trace(A^{-1} B) from the inverse factor of A; rows of B are b_stride apart. O(d^3 / 6).
  double (*trace_of_product)(const double* inverse, const double* b, std::int64_t b_stride,
                             std::int64_t d);
  // out = G' v, G the inverse factor: so |out|^2 = v' A^{-1} v. O(d^2 / 2).
  void (*multiply_transposed)(const double* inverse, const double* v, std::int64_t d,
                              double* out);
  // out = G v. O(d^2 / 2).
  void (*multiply)(const double* inverse, const double* v, std::int64_t d, double* out);
};

const SpdKernels& spd_kernels();

}  // namespace fctree
