// Gram matrices in tiles: a product of cache size, then the kernel on it, then out. The
// symmetric case computes the tiles on and above the diagonal and mirrors them.
//
// O(n m d) multiply-adds and about 60 operations per entry; memory in addition to the output: the
// packed rows and a few tiles per thread. An entry's value depends on its two rows alone: not on
// the tile, the number of threads, or whether the case is symmetric.
#pragma once

#include <vector>

#include "core/parallel.hpp"
#include "kernels/pointwise.hpp"
#include "kernels/rows.hpp"

namespace fctree::kernels {

// X against Y, or against itself where Y has no data.
template <class T>
struct GramInput {
  Samples<T> x;
  Samples<T> y;
  double scale;
};

// out (n_x, n_y), rows `stride` apart.
template <class T>
void compute_gram(const KernelSpec& spec, const GramInput<T>& input, T* out, index_t stride,
                  const Execution& execution);

// One matrix for each specification, one after the other in out (n_specs, n_x, n_y), for little
// more than the cost of writing them: all must be tree kernels, not derivatives.
template <class T>
void compute_gram_path(const std::vector<KernelSpec>& specs, const GramInput<T>& input, T* out,
                       const Execution& execution);

// out (n_x, n_vectors) = K(X, Y) vectors, vectors (n_y, n_vectors), without the matrix.
template <class T>
void multiply_gram(const KernelSpec& spec, const GramInput<T>& input, const T* vectors,
                   index_t n_vectors, T* out, const Execution& execution);

// out (n_x,): each row's kernel with itself.
template <class T>
void compute_diagonal(const KernelSpec& spec, const Samples<T>& x, double scale, T* out);

}  // namespace fctree::kernels
