// device.h in a build without CUDA.
#if !defined(FCTREE_CUDA)

#include "core/errors.hpp"
#include "cuda/device.h"

namespace fctree::cuda {

namespace {

[[noreturn]] void refuse() { throw DeviceError(why_unavailable()); }

}  // namespace

std::string why_unavailable() { return "this build of fctree has no CUDA"; }
std::string device_name() { refuse(); }
int device_of(const void*) { return -1; }

template <class T>
void compute_gram(const std::vector<KernelSpec>&, const DeviceInput<T>&, const DeviceArray<T>&,
                  const DeviceCall&) {
  refuse();
}
template <class T>
void multiply_gram(const KernelSpec&, const DeviceInput<T>&, const DeviceArray<const T>&,
                   std::int64_t, const DeviceArray<T>&, const DeviceCall&) {
  refuse();
}

#define FCTREE_INSTANTIATE(T)                                                               \
  template void compute_gram<T>(const std::vector<KernelSpec>&, const DeviceInput<T>&,      \
                                const DeviceArray<T>&, const DeviceCall&);                  \
  template void multiply_gram<T>(const KernelSpec&, const DeviceInput<T>&,                  \
                                 const DeviceArray<const T>&, std::int64_t,                 \
                                 const DeviceArray<T>&, const DeviceCall&);
FCTREE_INSTANTIATE(double)
FCTREE_INSTANTIATE(float)
#undef FCTREE_INSTANTIATE

void wait_for(int, void*) { refuse(); }
void* allocate(int, std::int64_t) { refuse(); }
void release(void*) noexcept {}
void copy_to_device(void*, const void*, std::int64_t) { refuse(); }
void copy_from_device(void*, const void*, std::int64_t) { refuse(); }

}  // namespace fctree::cuda

#endif
