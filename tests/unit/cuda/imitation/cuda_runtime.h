// The part of CUDA's runtime that the host's side of a call uses, in the host's memory: everything is done
// at once, memory has a limit, and what is freed wrongly or not at all is noticed.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>

using cudaStream_t = struct ImitatedStream*;
using cudaEvent_t = struct ImitatedEvent*;
enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600 };
enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
enum { cudaDevAttrSingleToDoublePrecisionPerfRatio = 87, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97 };

namespace imitation {

inline std::map<char*, std::size_t> memory;
inline std::size_t limit = std::size_t(1) << 30, used = 0;
inline int shared_memory = 227 << 10, device = 0;

}  // namespace imitation

template <class T>
cudaError_t cudaMalloc(T** address, std::size_t n_bytes) {
  if (imitation::used + n_bytes > imitation::limit) return cudaErrorMemoryAllocation;
  char* const found = static_cast<char*>(std::aligned_alloc(256, (n_bytes + 255) / 256 * 256));
  std::memset(found, 0xff, n_bytes);
  imitation::memory[found] = n_bytes;
  imitation::used += n_bytes;
  *address = reinterpret_cast<T*>(found);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* address) {
  if (address == nullptr) return cudaSuccess;
  const auto found = imitation::memory.find(static_cast<char*>(address));
  if (found == imitation::memory.end()) std::abort();
  imitation::used -= found->second;
  imitation::memory.erase(found);
  std::free(address);
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = imitation::limit;
  *free = imitation::limit - imitation::used;
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t n_bytes, int, cudaStream_t) {
  if (n_bytes > 0) std::memcpy(to, from, n_bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t n_bytes, cudaStream_t) {
  std::memset(to, value, n_bytes);
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = imitation::device;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  imitation::device = device;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, int attribute, int) {
  const bool is_speed = attribute == cudaDevAttrSingleToDoublePrecisionPerfRatio;
  *value = is_speed ? 2 : imitation::shared_memory;
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "an error"; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, int) { return cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, int) { return cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
