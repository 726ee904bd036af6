// Products of Gram matrices with vectors, on the device.
#include "cuda/launches.cuh"
#include "cuda/team.cuh"

namespace fctree::cuda::FCTREE_ISA {

namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(TileShape<T>::threads, 2)
    product_kernel(const __grid_constant__ VectorTask<T> task, std::int64_t first) {
  extern __shared__ __align__(16) unsigned char memory[];
  DeviceTeam<T> team(memory);
  vector_program(team, task, first + blockIdx.x);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    sum_kernel(const __grid_constant__ VectorTask<T> task, T* out, std::int64_t size) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; k < size;
       k += step)
    out[k] = add_parts(task, k);
}

}  // namespace

template <class T>
void launch_product(const VectorTask<T>& task, std::int64_t first, std::int64_t n_blocks,
                    cudaStream_t stream) {
  launch_tiles<T, VectorTask<T>>(product_kernel<T>, task, kSharedSize<T>, first, n_blocks, stream);
}

template <class T>
void launch_sum_of_parts(const VectorTask<T>& task, T* out, cudaStream_t stream) {
  const std::int64_t size = task.n_problems * task.left.n_rows * task.n_vectors;
  const std::int64_t n_blocks = (size + kThreads - 1) / kThreads;
  constexpr std::int64_t kMostBlocks = 1 << 16;
  sum_kernel<<<static_cast<unsigned>(n_blocks < kMostBlocks ? n_blocks : kMostBlocks), kThreads, 0,
               stream>>>(task, out, size);
  check(cudaGetLastError(), "launching a kernel");
}

#define FCTREE_INSTANTIATE(T)                                                                  \
  template void launch_product<T>(const VectorTask<T>&, std::int64_t, std::int64_t,            \
                                  cudaStream_t);                                               \
  template void launch_sum_of_parts<T>(const VectorTask<T>&, T*, cudaStream_t);
FCTREE_INSTANTIATE(float)
FCTREE_INSTANTIATE(double)
#undef FCTREE_INSTANTIATE

}  // namespace fctree::cuda::FCTREE_ISA
