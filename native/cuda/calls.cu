// One call on the device: arrays copied there, panels, launches, slabs copied back.
#include <algorithm>
#include <stdexcept>

#include "cuda/device.h"
#include "cuda/launches.cuh"
#include "cuda/queue.cuh"

namespace fctree::cuda {

using namespace FCTREE_ISA;

namespace {

constexpr double kOperationsPerEntry = 60.0;  // of a kernel, besides the product
constexpr std::int64_t kSlabBytes = std::int64_t(1) << 30;

template <class T>
double work_per_tile(const PanelRows<T>& rows) {
  return (static_cast<double>(rows.depth) + kOperationsPerEntry) * kTileSize<T>;
}

template <class T>
[[noreturn]] void refuse_rows(const RowFaults& faults) {
  if (faults.not_finite) throw std::invalid_argument("Input contains NaN or infinity.");
  const bool is_double = sizeof(T) == sizeof(double);
  throw std::invalid_argument(std::string("X has a row with scale * |x| above ") +
                              (is_double ? "1e150, the most that float64 supports: rescale the features"
                                         : "1e18, the most that float32 supports: rescale the features "
                                           "or use float64"));
}

template <class T>
class DevicePanels {
 public:
  DevicePanels(const DeviceSamples<T>& samples, std::int64_t n_problems, const RowScaling& scaling,
               const Queue& queue)
      : n_rows_(samples.n_rows),
        n_tiles_((samples.n_rows + TileShape<T>::tile - 1) / TileShape<T>::tile),
        depth_(round_up(samples.n_features, kGroup)),
        padded_(n_problems * n_tiles_ * TileShape<T>::tile),
        panels_(padded_ * depth_), self_(padded_), gap_(padded_), factor_(padded_), faults_(1) {
    const Resident<T> there(samples.array, n_problems * samples.n_rows * samples.n_features,
                            queue.stream());
    check(cudaMemsetAsync(faults_.data(), 0, sizeof(RowFaults), queue.stream()), "clearing memory");
    launch_panels(PanelTask<T>{there.data(), n_problems, samples.n_features, scaling, view(),
                               faults_.data()},
                  queue.stream());
    RowFaults faults;
    check(cudaMemcpyAsync(&faults, faults_.data(), sizeof faults, cudaMemcpyDeviceToHost,
                          queue.stream()),
          "copying from the device");
    queue.wait();
    if (faults.not_finite || faults.too_long) refuse_rows<T>(faults);
  }
  PanelRows<T> view() const {
    return {panels_.data(), self_.data(), gap_.data(), factor_.data(), n_rows_, n_tiles_, depth_};
  }

 private:
  std::int64_t n_rows_, n_tiles_, depth_, padded_;
  DeviceMemory<T> panels_, self_, gap_, factor_;
  DeviceMemory<RowFaults> faults_;
};

// Both sides of all problems.
template <class T>
class DeviceSides {
 public:
  DeviceSides(const DeviceInput<T>& input, KernelKind kind, const Queue& queue)
      : symmetric_(input.y.array.data == nullptr),
        left_(input.x, input.n_problems, {normalisation_of(kind), input.scale}, queue) {
    if (!symmetric_)
      right_.emplace_back(input.y, input.n_problems, RowScaling{normalisation_of(kind), input.scale},
                          queue);
  }
  bool symmetric() const { return symmetric_; }
  PanelRows<T> left() const { return left_.view(); }
  PanelRows<T> right() const { return symmetric_ ? left_.view() : right_[0].view(); }

 private:
  bool symmetric_;
  DevicePanels<T> left_;
  std::vector<DevicePanels<T>> right_;
};

// Some rows of tiles of some problems, computed and copied at a time.
struct Slab {
  std::int64_t problem, n_problems, tile, n_tiles;
  bool whole;  // all rows of its problems
};

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
    const std::vector<Slab> slabs = cut(max_bytes);
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
  std::int64_t rows_of(const Slab& slab) const {
    return std::min(slab.n_tiles * TileShape<T>::tile, n_x_ - slab.tile * TileShape<T>::tile);
  }
  std::int64_t slab_size(const Slab& slab) const {
    return slab.n_problems * specs_.size() * rows_of(slab) * n_y_;
  }

  // Whole problems if several fit, else rows of tiles of one.
  std::vector<Slab> cut(std::int64_t max_bytes) const {
    const std::int64_t n_tiles = sides_.left().n_tiles;
    const double row_bytes = static_cast<double>(sizeof(T)) * specs_.size() * n_y_;
    const double fitting = std::max(1.0, max_bytes / (row_bytes * n_x_));
    std::vector<Slab> slabs;
    if (row_bytes * n_x_ <= max_bytes) {
      const auto step = static_cast<std::int64_t>(std::min<double>(fitting, n_problems_));
      for (std::int64_t b = 0; b < n_problems_; b += step)
        slabs.push_back({b, std::min(step, n_problems_ - b), 0, n_tiles, true});
      return slabs;
    }
    const double rows = std::max(1.0, max_bytes / (row_bytes * TileShape<T>::tile));
    const auto step = static_cast<std::int64_t>(std::min<double>(rows, n_tiles));
    for (std::int64_t b = 0; b < n_problems_; ++b)
      for (std::int64_t tile = 0; tile < n_tiles; tile += step)
        slabs.push_back({b, 1, tile, std::min(step, n_tiles - tile), false});
    return slabs;
  }

  // The rows of a slab as a problem of its own.
  PanelRows<T> left_of(const Slab& slab) const {
    PanelRows<T> rows = shifted(sides_.left(), slab.problem, slab.tile);
    if (!slab.whole) {
      rows.n_rows = rows_of(slab);
      rows.n_tiles = slab.n_tiles;
    }
    return rows;
  }
  static PanelRows<T> shifted(PanelRows<T> rows, std::int64_t problem, std::int64_t tile) {
    const std::int64_t first = rows.first(problem, tile);
    rows.panels += first * rows.depth;
    rows.self += first;
    rows.gap += first;
    rows.factor += first;
    return rows;
  }

  void launch(const Slab& slab, T* out) const {
    const PanelRows<T> left = left_of(slab), right = shifted(sides_.right(), slab.problem, 0);
    const std::int64_t matrix = left.n_rows * n_y_;
    const GramTask<T> task = {
        {slab.n_problems, left.n_tiles, right.n_tiles, sides_.symmetric() && slab.whole},
        left, right, make_target(out, specs_.size() * matrix, n_y_), specs_[0]};
    if (specs_.size() > 1) return launch_path_of(task, matrix);
    queue_.in_portions(task.grid.size(), work_per_tile(left),
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
    if (together)
      return queue_.in_portions(task.grid.size(), work_per_tile(task.left) * specs_.size(),
                                [&](std::int64_t first, std::int64_t n_blocks) {
                                  launch_path(path, first, n_blocks, queue_.stream());
                                });
    for (std::int64_t s = 0; s < specs_.size(); ++s) {
      task.spec = specs_[s];
      const MatrixTarget<T>& all = path.gram.target;
      task.target = make_target(all.out + s * matrix, all.problem_stride, all.row_stride);
      queue_.in_portions(task.grid.size(), work_per_tile(task.left),
                         [&](std::int64_t first, std::int64_t n_blocks) {
                           launch_gram(task, first, n_blocks, queue_.stream());
                         });
    }
  }

  // Matrices one after the other in the slab, with gaps between them in `out` unless it is whole.
  void copy_out(const Slab& slab, const T* from, T* out, cudaStream_t stream) const {
    const std::int64_t n_specs = specs_.size(), size = rows_of(slab) * n_y_;
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

int chosen_device(const DeviceCall& call) {
  int device = call.device;
  if (device < 0) check(cudaGetDevice(&device), "asking for the device");
  return device;
}

// Bytes of a slab: as requested, or a quarter of the free memory, at most a gigabyte.
std::int64_t slab_bytes(const DeviceCall& call) {
  if (call.max_bytes > 0) return call.max_bytes;
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return std::min<std::int64_t>(kSlabBytes, static_cast<std::int64_t>(free / 4));
}

}  // namespace

template <class T>
void compute_gram(const std::vector<KernelSpec>& specs, const DeviceInput<T>& input,
                  const DeviceArray<T>& out, const DeviceCall& call) {
  if (specs.size() > 1)
    for (const KernelSpec& spec : specs)
      if (spec.derivative != Derivative::none || normalisation_of(spec.kind) != Normalisation::augmented)
        throw std::invalid_argument("a path needs tree kernels themselves");
  const DeviceScope scope(chosen_device(call));
  const Queue queue(call);
  const GramCall<T> gram(specs, input, queue);
  if (out.on_device) gram.compute_in_place(out.data);
  else gram.compute_in_slabs(out.data, slab_bytes(call));
}

template <class T>
void multiply_gram(const KernelSpec& spec, const DeviceInput<T>& input,
                   const DeviceArray<const T>& vectors, std::int64_t n_vectors,
                   const DeviceArray<T>& out, const DeviceCall& call) {
  const DeviceScope scope(chosen_device(call));
  const Queue queue(call);
  const ResidentSpecs specs({spec}, queue.stream());
  const DeviceSides<T> sides(input, spec.kind, queue);
  const PanelRows<T> left = sides.left(), right = sides.right();
  const Resident<T> there(vectors, input.n_problems * right.n_rows * n_vectors, queue.stream());
  // Enough parts that few rows against many columns keep the device busy; by the data alone.
  constexpr std::int64_t kTilesPerPart = 8, kMostParts = 64;
  const std::int64_t n_parts =
      std::max<std::int64_t>(1, std::min(kMostParts, right.n_tiles / kTilesPerPart));
  const std::int64_t size = input.n_problems * left.n_rows * n_vectors;
  const DeviceMemory<double> sums(n_parts * kSplits<T> * size);
  const DeviceMemory<T> copy(out.on_device ? 0 : size);
  const VectorTask<T> task = {left, right, specs[0], there.data(), sums.data(), input.n_problems,
                              n_vectors, n_parts};
  const double tiles = static_cast<double>(right.n_tiles) / n_parts + 1;
  queue.in_portions(task.n_blocks(), work_per_tile(left) * tiles,
                    [&](std::int64_t first, std::int64_t n_blocks) {
                      launch_product(task, first, n_blocks, queue.stream());
                    });
  T* const result = out.on_device ? out.data : copy.data();
  launch_sum_of_parts(task, result, queue.stream());
  if (!out.on_device)
    check(cudaMemcpyAsync(out.data, result, size * sizeof(T), cudaMemcpyDeviceToHost,
                          queue.stream()),
          "copying from the device");
  queue.wait();
}

#define FCTREE_INSTANTIATE(T)                                                                   \
  template void compute_gram<T>(const std::vector<KernelSpec>&, const DeviceInput<T>&,          \
                                const DeviceArray<T>&, const DeviceCall&);                      \
  template void multiply_gram<T>(const KernelSpec&, const DeviceInput<T>&,                      \
                                 const DeviceArray<const T>&, std::int64_t, const DeviceArray<T>&, \
                                 const DeviceCall&);
FCTREE_INSTANTIATE(double)
FCTREE_INSTANTIATE(float)
#undef FCTREE_INSTANTIATE

}  // namespace fctree::cuda
