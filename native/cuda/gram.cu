// Tiles of Gram matrices on the device.
#include "cuda/launches.cuh"
#include "cuda/team.cuh"

namespace fctree::cuda::FCTREE_ISA {

namespace {

template <class T>
__global__ void __launch_bounds__(TileShape<T>::threads, 2)
    gram_kernel(const __grid_constant__ GramTask<T> task, std::int64_t first) {
  extern __shared__ __align__(16) unsigned char memory[];
  DeviceTeam<T> team(memory);
  gram_program(team, task, first + blockIdx.x);
}

}  // namespace

template <class T>
void launch_gram(const GramTask<T>& task, std::int64_t first, std::int64_t n_blocks,
                 cudaStream_t stream) {
  launch_tiles<T, GramTask<T>>(gram_kernel<T>, task, kSharedSize<T>, first, n_blocks, stream);
}

template void launch_gram<float>(const GramTask<float>&, std::int64_t, std::int64_t, cudaStream_t);
template void launch_gram<double>(const GramTask<double>&, std::int64_t, std::int64_t, cudaStream_t);

}  // namespace fctree::cuda::FCTREE_ISA
