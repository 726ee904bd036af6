// The device's programs on a processor, thread by thread, for tests: with the device's indexing,
// but watched. A block's shared memory knows who touched each element since the last barrier, and
// refuses what would be a race on a device, what is not aligned, what is out of bounds and what has
// not been written; and it counts how often each element of the matrix is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/gram.hpp"

namespace fctree::cuda {

using namespace kernels;

// In which order a block's threads take each step: results must not depend on it.
enum class ThreadOrder { rising, falling, shuffled };

template <class T>
struct EmulatedInput {
  Samples<T> x, y;  // each problem's rows one after the other; y without data: x itself
  index_t n_problems;
  double scale;
  ThreadOrder order;
};

// out (n_problems, n_specs, n_x, n_y), `stride` >= n_y between its rows. Returns how often each
// element of out was written. A path where there are several specifications. Throws
// std::logic_error for what a device would not forgive.
template <class T>
std::vector<std::uint8_t> emulate_gram(const std::vector<KernelSpec>& specs,
                                       const EmulatedInput<T>& input, T* out, index_t stride);

// out (n_problems, n_x, n_vectors) = K vectors, vectors (n_problems, n_y, n_vectors).
template <class T>
void emulate_product(const KernelSpec& spec, const EmulatedInput<T>& input, const T* vectors,
                     index_t n_vectors, T* out);

}  // namespace fctree::cuda
