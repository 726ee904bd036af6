// Every CUDA call is checked, and every resource belongs to an object that frees it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "core/errors.hpp"

namespace fctree::cuda {

// std::bad_alloc if the device has too little memory, DeviceError for all other errors.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // or the next call would report it again
  if (status == cudaErrorMemoryAllocation) throw std::bad_alloc();
  throw DeviceError(std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
}

template <class T>
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::int64_t size) {
    if (size <= 0) return;
    check(cudaMalloc(&data_, static_cast<std::size_t>(size) * sizeof(T)), "allocating memory");
  }
  DeviceMemory(DeviceMemory&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  ~DeviceMemory() { cudaFree(data_); }
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// The current device for -1.
inline int chosen_device(int device) {
  if (device < 0) check(cudaGetDevice(&device), "asking for the device");
  return device;
}

// Makes a device the current one during its lifetime.
class DeviceScope {
 public:
  explicit DeviceScope(int device) {
    check(cudaGetDevice(&before_), "asking for the device");
    check(cudaSetDevice(device), "choosing the device");
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

}  // namespace fctree::cuda
