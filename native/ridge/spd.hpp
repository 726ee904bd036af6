// The factor of a symmetric positive definite matrix, for leverages. Matrices are row-major with
// rows of spd_stride(d) doubles, upper triangle; one table of functions per instruction
// set (core/cpu.hpp).
#pragma once

#include <cstdint>

namespace fctree::ridge {

constexpr std::int64_t spd_stride(std::int64_t d) { return (d + 7) / 8 * 8; }

struct SpdKernels {
  // inverse = U^{-1} (upper, zeros below), A = U'U; A is destroyed. False if A is not
  // positive definite. O(d^3 / 3).
  bool (*invert_factor)(double* a, std::int64_t d, double* inverse);
};

const SpdKernels& spd_kernels();

}  // namespace fctree::ridge
