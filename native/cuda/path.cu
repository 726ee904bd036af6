// Tiles of many Gram matrices that share their angles, on the device.
#include "cuda/launches.cuh"
#include "cuda/team.cuh"

namespace fctree::cuda::FCTREE_ISA {

namespace {

// Two tiles of shared memory: one block per multiprocessor.
template <class T>
__global__ void __launch_bounds__(TileShape<T>::threads, 1)
    path_kernel(const __grid_constant__ PathTask<T> task, std::int64_t first) {
  extern __shared__ __align__(16) unsigned char memory[];
  DeviceTeam<T> team(memory);
  path_program(team, task, first + blockIdx.x);
}

}  // namespace

template <class T>
void launch_path(const PathTask<T>& task, std::int64_t first, std::int64_t n_blocks,
                 cudaStream_t stream) {
  static_assert(2 * kTileSize<T> >= kSharedSize<T>, "the stages fit where the tiles will be");
  launch_tiles<T, PathTask<T>>(path_kernel<T>, task, 2 * kTileSize<T>, first, n_blocks, stream);
}

template void launch_path<float>(const PathTask<float>&, std::int64_t, std::int64_t, cudaStream_t);
template void launch_path<double>(const PathTask<double>&, std::int64_t, std::int64_t, cudaStream_t);

}  // namespace fctree::cuda::FCTREE_ISA
