// Gram matrices on the device: launches, and slabs copied back.
#include <algorithm>
#include <stdexcept>

#include "cuda/sides.cuh"

namespace fctree::cuda {

namespace {

template <class T>
class GramCall {
 public:
  GramCall(const std::vector<KernelSpec>& specs, const DeviceInput<T>& input, const Queue& queue)
      : queue_(queue), specs_(specs, queue.stream()), sides_(input, specs[0].kind, queue),
        n_problems_(input.n_problems), n_x_(sides_.left().n_rows), n_y_(sides_.right().n_rows) {}

  void compute_in_place(T* out) const {
    launch({0, n_problems_, 0, sides_.left().n_tiles, true}, out);
    queue_.wait();
  }

  void compute_in_slabs(T* out, std::int64_t max_bytes) const {
    const double row_bytes = static_cast<double>(sizeof(T)) * specs_.size() * n_y_;
    const std::vector<Slab> slabs = cut(sides_.left(), n_problems_, row_bytes, max_bytes);
    std::int64_t size = 0;
    for (const Slab& slab : slabs) size = std::max(size, slab_size(slab));
    const DeviceMemory<T> memory(size * (slabs.size() > 1 ? 2 : 1));
    const Stream copies;
    launch(slabs[0], memory.data());
    for (std::size_t k = 0; k < slabs.size(); ++k) {
      queue_.wait();
      if (k + 1 < slabs.size()) launch(slabs[k + 1], memory.data() + (k + 1) % 2 * size);
      copy_out(slabs[k], memory.data() + k % 2 * size, out, copies.get());
    }
  }

 private:
  std::int64_t slab_size(const Slab& slab) const {
    return slab.n_problems * specs_.size() * rows_of(slab, sides_.left()) * n_y_;
  }

  void launch(const Slab& slab, T* out) const {
    const PanelRows<T> left = part_of(sides_.left(), slab);
    const PanelRows<T> right = shifted(sides_.right(), slab.problem, 0);
    const std::int64_t matrix = left.n_rows * n_y_;
    const GramTask<T> task = {
        {slab.n_problems, left.n_tiles, right.n_tiles, sides_.symmetric() && slab.whole},
        left, right, make_target(out, specs_.size() * matrix, n_y_), specs_[0]};
    if (specs_.size() > 1) return launch_path_of(task, matrix);
    queue_.in_portions(task.grid.size(), work_per_tile(left, operations_of(task.spec)),
                       [&](std::int64_t first, std::int64_t n_blocks) {
                         launch_gram(task, first, n_blocks, queue_.stream());
                       });
  }

  // All specifications together if the device has enough shared memory, else one by one.
  void launch_path_of(GramTask<T> task, std::int64_t matrix) const {
    int device = 0, shared = 0;
    check(cudaGetDevice(&device), "asking for the device");
    check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "asking for the device's memory");
    const bool together = shared >= 2 * kTileSize<T> * static_cast<int>(sizeof(T));
    const PathTask<T> path = {task, specs_.there(), specs_.size(), matrix};
    double operations = 0.0;
    for (std::int64_t s = 0; s < specs_.size(); ++s) operations += operations_of(specs_[s]);
    if (together)
      return queue_.in_portions(task.grid.size(), work_per_tile(task.left, operations),
                                [&](std::int64_t first, std::int64_t n_blocks) {
                                  launch_path(path, first, n_blocks, queue_.stream());
                                });
    for (std::int64_t s = 0; s < specs_.size(); ++s) {
      task.spec = specs_[s];
      const MatrixTarget<T>& all = path.gram.target;
      task.target = make_target(all.out + s * matrix, all.problem_stride, all.row_stride);
      queue_.in_portions(task.grid.size(), work_per_tile(task.left, operations_of(task.spec)),
                         [&](std::int64_t first, std::int64_t n_blocks) {
                           launch_gram(task, first, n_blocks, queue_.stream());
                         });
    }
  }

  // Matrices one after the other in the slab, with gaps between them in `out` unless it is whole.
  void copy_out(const Slab& slab, const T* from, T* out, cudaStream_t stream) const {
    const std::int64_t n_specs = specs_.size(), size = rows_of(slab, sides_.left()) * n_y_;
    const std::int64_t n_parts = slab.whole ? 1 : n_specs;
    const std::int64_t part = slab.whole ? slab.n_problems * n_specs * size : size;
    T* to = out + slab.problem * n_specs * n_x_ * n_y_ + slab.tile * TileShape<T>::tile * n_y_;
    for (std::int64_t s = 0; s < n_parts; ++s)
      check(cudaMemcpyAsync(to + s * n_x_ * n_y_, from + s * size, part * sizeof(T),
                            cudaMemcpyDeviceToHost, stream),
            "copying from the device");
    check(cudaStreamSynchronize(stream), "copying from the device");
  }

  const Queue& queue_;
  ResidentSpecs specs_;
  DeviceSides<T> sides_;
  std::int64_t n_problems_, n_x_, n_y_;
};

}  // namespace

template <class T>
void compute_gram(const std::vector<KernelSpec>& specs, const DeviceInput<T>& input,
                  const DeviceArray<T>& out, const DeviceCall& call) {
  if (specs.size() > 1)
    for (const KernelSpec& spec : specs)
      if (spec.derivative != Derivative::none || normalisation_of(spec.kind) != Normalisation::augmented)
        throw std::invalid_argument("a path needs tree kernels themselves");
  const DeviceScope scope(chosen_device(call.device));
  const Queue queue(call);
  const std::int64_t size =
      static_cast<std::int64_t>(specs.size()) * input.x.n_rows * input.n_columns();
  in_batches(input, call, [&](std::int64_t first, const DeviceInput<T>& part) {
    const GramCall<T> gram(specs, part, queue);
    T* const to = out.data + first * size;
    if (out.on_device) return gram.compute_in_place(to);
    const double needed = static_cast<double>(part.n_problems) * size * sizeof(T);
    gram.compute_in_slabs(to, slab_bytes(call, needed));
  });
}

template void compute_gram<double>(const std::vector<KernelSpec>&, const DeviceInput<double>&,
                                   const DeviceArray<double>&, const DeviceCall&);
template void compute_gram<float>(const std::vector<KernelSpec>&, const DeviceInput<float>&,
                                  const DeviceArray<float>&, const DeviceCall&);

}  // namespace fctree::cuda
