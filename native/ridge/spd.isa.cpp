// The kernels of ridge/spd.hpp, compiled once per instruction set. All of them work
// along rows: whole vectors, starting at the vector that holds the first element wanted.
#include "ridge/spd.hpp"

#include "core/simd.hpp"

namespace fctree::ridge::FCTREE_ISA {

using namespace fctree::FCTREE_ISA;

namespace {

inline std::int64_t vector_start(std::int64_t column) { return column / kLanes * kLanes; }

// target[c] += factor * source[c] for columns from `first` (or a few before it) to stride.
inline void add_multiple(double factor, const double* source, std::int64_t first,
                         std::int64_t stride, double* target) {
  const Pack multiplier = broadcast(factor);
  for (std::int64_t c = vector_start(first); c < stride; c += kLanes)
    store(target + c, load(target + c) + multiplier * load(source + c));
}

bool invert_factor(double* a, std::int64_t d, double* inverse) {
  const std::int64_t stride = spd_stride(d);
  for (std::int64_t k = 0; k < d; ++k) {
    double* row = a + k * stride;
    // Elements outside the triangle are read below: as zeros, not as what was there.
    for (std::int64_t c = 0; c < k; ++c) row[c] = 0.0;
    for (std::int64_t c = d; c < stride; ++c) row[c] = 0.0;
  }
  for (std::int64_t k = 0; k < d; ++k) {
    double* row = a + k * stride;
    const double pivot = row[k];
    if (!(pivot > 0.0)) return false;
    for (std::int64_t i = k + 1; i < d; ++i)
      add_multiple(-row[i] / pivot, row, i, stride, a + i * stride);
    const Pack scale = broadcast(1.0 / __builtin_sqrt(pivot));
    for (std::int64_t c = vector_start(k); c < stride; c += kLanes)
      store(row + c, load(row + c) * scale);
  }
  for (std::int64_t i = d - 1; i >= 0; --i) {
    const double* factors = a + i * stride;
    double* row = inverse + i * stride;
    for (std::int64_t c = 0; c < stride; c += kLanes) store(row + c, Pack{});
    for (std::int64_t k = i + 1; k < d; ++k)
      add_multiple(-factors[k] / factors[i], inverse + k * stride, k, stride, row);
    row[i] = 1.0 / factors[i];
  }
  return true;
}

}  // namespace

extern const SpdKernels spd_table;
const SpdKernels spd_table = {invert_factor};

}  // namespace fctree::ridge::FCTREE_ISA
