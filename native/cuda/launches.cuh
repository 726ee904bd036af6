// The kernels' host side: each launches one program of programs.hpp or vectors.hpp on a stream.
// Each is compiled in its own file, so that compilation is parallel.
#pragma once

#include "cuda/resources.cuh"
#include "cuda/rows_to_panels.hpp"
#include "cuda/vectors.hpp"

namespace fctree::cuda::FCTREE_ISA {

// Blocks [first, first + n_blocks) of the task's tiles.
template <class T>
void launch_gram(const GramTask<T>& task, std::int64_t first, std::int64_t n_blocks,
                 cudaStream_t stream);
template <class T>
void launch_path(const PathTask<T>& task, std::int64_t first, std::int64_t n_blocks,
                 cudaStream_t stream);
template <class T>
void launch_product(const VectorTask<T>& task, std::int64_t first, std::int64_t n_blocks,
                    cudaStream_t stream);
template <class T>
void launch_sum_of_parts(const VectorTask<T>& task, T* out, cudaStream_t stream);
// Panels, gaps and factors of all rows, then their squared lengths.
template <class T>
void launch_panels(const PanelTask<T>& task, cudaStream_t stream);

// Reserves this much shared memory for a kernel, and launches one block of threads per tile.
template <class T, class Task>
void launch_tiles(void (*kernel)(Task, std::int64_t), const Task& task, int shared_size,
                  std::int64_t first, std::int64_t n_blocks, cudaStream_t stream) {
  const int n_bytes = shared_size * static_cast<int>(sizeof(T));
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, n_bytes),
        "asking for shared memory");
  // Otherwise the device might keep a cache so large that only one block fits.
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared),
        "asking for shared memory");
  kernel<<<static_cast<unsigned>(n_blocks), TileShape<T>::threads, n_bytes, stream>>>(task, first);
  check(cudaGetLastError(), "launching a kernel");
}

}  // namespace fctree::cuda::FCTREE_ISA
