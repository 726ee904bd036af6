// The diagonal of a Gram matrix, from the pointwise kernels on plain numbers.
#define FCTREE_ISA scalar

#include "kernels/gram.hpp"
#include "kernels/pointwise.hpp"

namespace fctree::kernels {

template <class T>
void compute_diagonal(const KernelSpec& spec, const Samples<T>& x, double scale, T* out) {
  const RowScaling scaling = scaling_of(spec.kind, scale);
  for (index_t i = 0; i < x.n_rows; ++i) {
    const T* row = x.data + i * x.n_features;
    const RowLength length = measure_row(row, x.n_features, scaling);
    T self = T(0);
    for (index_t j = 0; j < x.n_features; ++j) {
      const T u = static_cast<T>(static_cast<double>(row[j]) * length.multiplier);
      self += u * u;
    }
    const T gap = static_cast<T>(length.gap), factor = static_cast<T>(length.factor);
    const scalar::Pair<T> pair = {self, self, self, gap, gap, factor * factor};
    scalar::with_kernel(spec, [&](const auto& kernel) { out[i] = kernel(pair); });
  }
}

template void compute_diagonal<double>(const KernelSpec&, const Samples<double>&, double, double*);
template void compute_diagonal<float>(const KernelSpec&, const Samples<float>&, double, float*);

}  // namespace fctree::kernels
