// The device's programs on the CPU, thread by thread, for tests, with the device's indexing and
// with checks: a block's shared memory records which thread accessed each element since the last
// barrier, and reports races, misalignment, out-of-bounds accesses and reads of unwritten
// elements; and it counts how often each element of the matrix is written.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gram.hpp"

namespace fctree::cuda {

using namespace kernels;

// Order of a block's threads in each step: results must not depend on it.
enum class ThreadOrder { rising, falling, shuffled };

template <class T>
struct EmulatedInput {
  Samples<T> x, y;  // each problem's rows one after the other; y without data: x itself
  index_t n_problems;
  double scale;
  ThreadOrder order;
};

// out (n_problems, n_specs, n_x, n_y), `stride` >= n_y between its rows. Returns how often each
// element of out was written. A path if there are several specifications. Throws
// std::logic_error for errors of a program.
template <class T>
std::vector<std::uint8_t> emulate_gram(const std::vector<KernelSpec>& specs,
                                       const EmulatedInput<T>& input, T* out, index_t stride);

// out (n_problems, n_x, n_vectors) = K vectors, vectors (n_problems, n_y, n_vectors).
template <class T>
void emulate_product(const KernelSpec& spec, const EmulatedInput<T>& input, const T* vectors,
                     index_t n_vectors, T* out);

}  // namespace fctree::cuda
