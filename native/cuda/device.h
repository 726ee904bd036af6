// Gram matrices on a GPU: the interface for the CPU side. Without nvcc, stub.cpp replaces the *.cu
// files.
//
// Each array may be in host or device memory. A call uses the given stream, and returns when its results are
// complete. tiling.hpp has the tiles of a matrix, programs.hpp the work of a block of threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/pointwise.hpp"

namespace fctree::cuda {

using namespace kernels;

// Why no device can be used: the build, the driver or the device; empty if one can.
std::string why_unavailable();
// Of the current device, with its number.
std::string device_name();
// The device whose memory an address is in, or -1 for none.
int device_of(const void* address);

template <class T>
struct DeviceArray {
  T* data;
  bool on_device;
};

// (n_problems, n_rows, n_features), without gaps.
template <class T>
struct DeviceSamples {
  DeviceArray<const T> array;
  std::int64_t n_rows, n_features;
};

// X against Y, or against itself where Y has no data, problem by problem.
template <class T>
struct DeviceInput {
  DeviceSamples<T> x, y;
  std::int64_t n_problems;
  double scale;

  bool symmetric() const { return y.array.data == nullptr; }
  std::int64_t n_columns() const { return symmetric() ? x.n_rows : y.n_rows; }
};

struct DeviceCall {
  int device;             // -1: the current one
  void* stream;           // a cudaStream_t
  std::int64_t max_bytes; // of a slab, and of a batch's panels; 0: by the device's memory
  bool (*interrupted)();
};

// out (n_problems, n_specs, n_x, n_y). Several specifications must be of tree kernels, not of
// derivatives. A matrix that the device cannot hold is computed in slabs and copied out while the next
// is computed. Throws std::invalid_argument for rows that are too long or not finite,
// std::bad_alloc, Interrupted, DeviceError.
template <class T>
void compute_gram(const std::vector<KernelSpec>& specs, const DeviceInput<T>& input,
                  const DeviceArray<T>& out, const DeviceCall& call);

// out (n_problems, n_x, n_vectors) = K(X, Y) vectors, vectors (n_problems, n_y, n_vectors).
template <class T>
void multiply_gram(const KernelSpec& spec, const DeviceInput<T>& input,
                   const DeviceArray<const T>& vectors, std::int64_t n_vectors,
                   const DeviceArray<T>& out, const DeviceCall& call);

// Waits until all previous work in a stream of a device is done.
void wait_for(int device, void* stream);

// Memory of a device. -1, here as above, is the current one.
void* allocate(int device, std::int64_t n_bytes);
void release(void* address) noexcept;
void copy_to_device(void* to, const void* from, std::int64_t n_bytes);
void copy_from_device(void* to, const void* from, std::int64_t n_bytes);

}  // namespace fctree::cuda
