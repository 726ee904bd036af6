// Ridge models of the sides of cuts, a vector of them at a time: each lane of a vector holds the
// same number of another side. The systems are small, and a row of one would not fill a vector.
// One table per instruction set (core/cpu.hpp).
#pragma once

#include <cstdint>

namespace fctree::ridge {

constexpr std::int64_t kSidesAtOnce = 8;  // in one call

// Shared by the sides of all cuts of one node: ChildModels (side_losses.hpp) and the node's
// products, as plain arrays. Rows of packed products (dense.hpp) are `width` apart.
struct SideSystems {
  std::int64_t n_features;
  std::int64_t n_outputs;
  std::int64_t width;
  std::int64_t sums_row;  // of the outputs; their squares are in the next one
  std::int64_t base_stride;
  const double* base;   // (d, base_stride), upper triangle
  const double* prior;  // packed products
  const double* whole;  // packed products of the node
};

// A side: what is left of a cut, or of the node without that.
struct Side {
  const double* left;  // packed products
  bool is_right;
};

struct SideKernels {
  // The ingredients of the loss of n <= kSidesAtOnce sides; infinite rss where a system is not
  // positive definite. scratch: side_scratch_size numbers. O(n d^2 (d / 2 + K)).
  void (*fit_sides)(const SideSystems& systems, const Side* sides, std::int64_t n, double* scratch,
                    double* rss, double* freedom);
};

// Numbers of a matrix (n, width) without what is below its diagonal.
constexpr std::int64_t upper_size(std::int64_t n, std::int64_t width) { return n * width - n * (n - 1) / 2; }

// The products of a vector of sides, their systems beside two columns of sums, all sums twice, the inverse
// diagonal and eight rows; and room to align them.
constexpr std::int64_t side_scratch_size(std::int64_t n_features, std::int64_t n_outputs) {
  const std::int64_t width = n_features + n_outputs;
  const std::int64_t triangles = upper_size(n_features, width) + upper_size(n_features, width + 2);
  return kSidesAtOnce * (triangles + 2 * width + 9 * n_features + 1);
}

const SideKernels& side_kernels();

}  // namespace fctree::ridge
