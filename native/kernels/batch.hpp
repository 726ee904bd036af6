// Many Gram matrices of one shape in one call: problem b has the rows [b n, (b + 1) n) of X and Y.
// Small problems are computed in parallel, one thread each; large ones one after the other on all
// threads. Values are bit for bit those of single calls.
#pragma once

#include <vector>

#include "kernels/gram.hpp"

namespace fctree::kernels {

// out (n_problems, n_specs, n_x, n_y); several specifications as for compute_gram_path.
template <class T>
void compute_gram_batch(const std::vector<KernelSpec>& specs, const GramInput<T>& input,
                        index_t n_problems, T* out, const Execution& execution);

// vectors (n_problems, n_y, n_vectors), out (n_problems, n_x, n_vectors).
template <class T>
struct BatchVectors {
  const T* vectors;
  index_t n_problems;
  index_t n_vectors;
};
template <class T>
void multiply_gram_batch(const KernelSpec& spec, const GramInput<T>& input,
                         const BatchVectors<T>& batch, T* out, const Execution& execution);

}  // namespace fctree::kernels
