// Products of Gram matrices with vectors on the device: launches, slab by slab.
#include <algorithm>

#include "cuda/sides.cuh"

namespace fctree::cuda {

namespace {

// Enough parts that few rows against many columns keep the device busy; by the columns alone, so that
// the product of a row does not depend on the other rows.
std::int64_t parts_of(std::int64_t n_tiles) {
  constexpr std::int64_t kTilesPerPart = 8, kMostParts = 64;
  return std::max<std::int64_t>(1, std::min(kMostParts, n_tiles / kTilesPerPart));
}

template <class T>
class ProductCall {
 public:
  ProductCall(const KernelSpec& spec, const DeviceInput<T>& input,
              const DeviceArray<const T>& vectors, std::int64_t n_vectors, const Queue& queue)
      : queue_(queue), specs_({spec}, queue.stream()), sides_(input, spec.kind, queue),
        n_problems_(input.n_problems), n_vectors_(n_vectors), n_parts_(parts_of(sides_.right().n_tiles)),
        vectors_(vectors, n_problems_ * sides_.right().n_rows * n_vectors, queue.stream()) {}

  // Slab by slab, for the parts' sums take many times the product's memory.
  void compute(const DeviceArray<T>& out, const DeviceCall& call) const {
    const PanelRows<T> left = sides_.left();
    const double row_bytes = static_cast<double>(sizeof(double)) * n_parts_ * kSplits<T> * n_vectors_;
    const double needed = row_bytes * left.n_rows * n_problems_;
    const std::vector<Slab> slabs = cut(left, n_problems_, row_bytes, slab_bytes(call, needed));
    std::int64_t size = 0;
    for (const Slab& slab : slabs) size = std::max(size, slab_size(slab));
    const DeviceMemory<double> sums(n_parts_ * kSplits<T> * size);
    const DeviceMemory<T> copy(out.on_device ? 0 : size);
    for (const Slab& slab : slabs) {
      T* const to =
          out.data + (slab.problem * left.n_rows + slab.tile * TileShape<T>::tile) * n_vectors_;
      T* const result = out.on_device ? to : copy.data();
      launch(slab, sums.data(), result);
      if (!out.on_device)
        check(cudaMemcpyAsync(to, result, slab_size(slab) * sizeof(T), cudaMemcpyDeviceToHost,
                              queue_.stream()),
              "copying from the device");
      queue_.wait();
    }
  }

 private:
  std::int64_t slab_size(const Slab& slab) const {
    return slab.n_problems * rows_of(slab, sides_.left()) * n_vectors_;
  }

  void launch(const Slab& slab, double* sums, T* result) const {
    const PanelRows<T> left = part_of(sides_.left(), slab);
    const PanelRows<T> right = shifted(sides_.right(), slab.problem, 0);
    const T* vectors = vectors_.data() + slab.problem * right.n_rows * n_vectors_;
    const VectorTask<T> task = {left, right, specs_[0], vectors, sums, slab.n_problems, n_vectors_,
                                n_parts_};
    const double tiles = static_cast<double>(right.n_tiles) / n_parts_ + 1;
    const double per_entry = operations_of(task.spec) + static_cast<double>(n_vectors_);
    queue_.in_portions(task.n_blocks(), work_per_tile(left, per_entry) * tiles,
                       [&](std::int64_t first, std::int64_t n_blocks) {
                         launch_product(task, first, n_blocks, queue_.stream());
                       });
    launch_sum_of_parts(task, result, queue_.stream());
  }

  const Queue& queue_;
  ResidentSpecs specs_;
  DeviceSides<T> sides_;
  std::int64_t n_problems_, n_vectors_, n_parts_;
  Resident<T> vectors_;
};

}  // namespace

template <class T>
void multiply_gram(const KernelSpec& spec, const DeviceInput<T>& input,
                   const DeviceArray<const T>& vectors, std::int64_t n_vectors,
                   const DeviceArray<T>& out, const DeviceCall& call) {
  const DeviceScope scope(chosen_device(call.device));
  const Queue queue(call);
  in_batches(input, call, [&](std::int64_t first, const DeviceInput<T>& part) {
    const DeviceArray<const T> some = {vectors.data + first * input.n_columns() * n_vectors,
                                        vectors.on_device};
    const DeviceArray<T> to = {out.data + first * input.x.n_rows * n_vectors, out.on_device};
    ProductCall<T>(spec, part, some, n_vectors, queue).compute(to, call);
  });
}

template void multiply_gram<double>(const KernelSpec&, const DeviceInput<double>&,
                                    const DeviceArray<const double>&, std::int64_t,
                                    const DeviceArray<double>&, const DeviceCall&);
template void multiply_gram<float>(const KernelSpec&, const DeviceInput<float>&,
                                   const DeviceArray<const float>&, std::int64_t,
                                   const DeviceArray<float>&, const DeviceCall&);

}  // namespace fctree::cuda
