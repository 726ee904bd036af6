// Samples to panels, on the device.
#include "cuda/launches.cuh"
#include "cuda/team.cuh"

namespace fctree::cuda::FCTREE_ISA {

namespace {

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads) panel_kernel(const __grid_constant__ PanelTask<T> task) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row < task.n_threads()) row_to_panel(task, row);
}

template <class T>
__global__ void __launch_bounds__(TileShape<T>::threads, 2)
    self_kernel(const __grid_constant__ PanelRows<T> rows, std::int64_t first) {
  extern __shared__ __align__(16) unsigned char memory[];
  DeviceTeam<T> team(memory);
  self_program(team, rows, first + blockIdx.x);
}

}  // namespace

template <class T>
void launch_panels(const PanelTask<T>& task, cudaStream_t stream) {
  const std::int64_t n_blocks = (task.n_threads() + kThreads - 1) / kThreads;
  panel_kernel<<<static_cast<unsigned>(n_blocks), kThreads, 0, stream>>>(task);
  check(cudaGetLastError(), "launching a kernel");
  launch_tiles<T, PanelRows<T>>(self_kernel<T>, task.rows, kSharedSize<T>, 0,
                                task.n_problems * task.rows.n_tiles, stream);
}

template void launch_panels<float>(const PanelTask<float>&, cudaStream_t);
template void launch_panels<double>(const PanelTask<double>&, cudaStream_t);

}  // namespace fctree::cuda::FCTREE_ISA
