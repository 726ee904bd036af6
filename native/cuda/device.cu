// Devices and their memory.
#include "cuda/device.h"

#include <map>
#include <mutex>

#include "cuda/resources.cuh"

namespace fctree::cuda {

std::string why_unavailable() {
  int n_devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&n_devices);
  if (status == cudaErrorInsufficientDriver || status == cudaErrorStubLibrary) {
    int driver = 0;
    cudaGetLastError();
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
      return "no NVIDIA driver was found on this machine";
    return "the NVIDIA driver is too old for this build: it supports CUDA " +
           std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10) +
           ", the build needs " + std::to_string(CUDART_VERSION / 1000) + "." +
           std::to_string(CUDART_VERSION % 1000 / 10);
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && n_devices == 0)) {
    cudaGetLastError();
    return "the NVIDIA driver is there, but no device is";
  }
  if (status != cudaSuccess) {
    cudaGetLastError();
    return std::string("the device cannot be used: ") + cudaGetErrorString(status);
  }
  int device = 0, major = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "asking for the device's kind");
  if (major < 8)
    return "the device is too old: compute capability 8.0 or later is needed, it has " +
           std::to_string(major) + ".x";
  return "";
}

std::string device_name() {
  static std::mutex guard;
  static std::map<int, std::string> names;  // asking takes milliseconds
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  const std::lock_guard<std::mutex> lock(guard);
  std::string& name = names[device];
  if (name.empty()) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "asking for the device's name");
    name = std::string(properties.name) + " (cuda:" + std::to_string(device) + ")";
  }
  return name;
}

int device_of(const void* address) {
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
    cudaGetLastError();
    return -1;
  }
  const bool usable =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return usable ? attributes.device : -1;
}

void wait_for(int device, void* stream) {
  const DeviceScope scope(chosen_device(device));
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "waiting for a stream");
}

void* allocate(int device, std::int64_t n_bytes) {
  const DeviceScope scope(chosen_device(device));
  void* address = nullptr;
  check(cudaMalloc(&address, static_cast<std::size_t>(n_bytes > 0 ? n_bytes : 1)),
        "allocating memory");
  return address;
}

void release(void* address) noexcept { cudaFree(address); }

void copy_to_device(void* to, const void* from, std::int64_t n_bytes) {
  check(cudaMemcpy(to, from, static_cast<std::size_t>(n_bytes), cudaMemcpyHostToDevice),
        "copying to the device");
  // The last bytes may still be on their way, and streams other than this one do not wait for it.
  check(cudaStreamSynchronize(cudaStreamLegacy), "copying to the device");
}

void copy_from_device(void* to, const void* from, std::int64_t n_bytes) {
  check(cudaMemcpy(to, from, static_cast<std::size_t>(n_bytes), cudaMemcpyDeviceToHost),
        "copying from the device");
}

}  // namespace fctree::cuda
