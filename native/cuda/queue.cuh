// A call's work on one stream: launches in portions, waiting that can be interrupted, and the
// caller's arrays where the device can read them.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/device.h"
#include "cuda/resources.cuh"

namespace fctree::cuda {

// A launch is limited to about a tenth of a second, after which interrupts are checked.
constexpr double kWorkPerLaunch = 2e12;  // multiply-adds

class Queue {
 public:
  explicit Queue(const DeviceCall& call)
      : stream_(static_cast<cudaStream_t>(call.stream)), interrupted_(call.interrupted) {}
  cudaStream_t stream() const { return stream_; }

  // Waits until all work so far is done; an interrupt waits for the device too, which may still be
  // writing to the caller's memory.
  void wait() const {
    using Clock = std::chrono::steady_clock;
    Event done;
    check(cudaEventRecord(done.get(), stream_), "recording an event");
    const auto start = Clock::now();
    auto last_look = start;
    for (;;) {
      const cudaError_t status = cudaEventQuery(done.get());
      if (status != cudaErrorNotReady) return check(status, "computing");
      const auto now = Clock::now();
      if (now - start > std::chrono::milliseconds(1))
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (interrupted_ != nullptr && now - last_look > std::chrono::milliseconds(50)) {
        last_look = now;
        if (interrupted_()) {
          cudaStreamSynchronize(stream_);
          throw Interrupted();
        }
      }
    }
  }

  // launch(first, n_blocks) for all blocks, in portions.
  template <class Launch>
  void in_portions(std::int64_t n_blocks, double work_per_block, const Launch& launch) const {
    const double portion = std::min(1e9, std::max(1.0, kWorkPerLaunch / work_per_block));
    const std::int64_t most = static_cast<std::int64_t>(portion);
    for (std::int64_t first = 0; first < n_blocks; first += most) {
      if (first > 0) wait();
      launch(first, std::min(most, n_blocks - first));
    }
  }

 private:
  cudaStream_t stream_;
  bool (*interrupted_)();
};

// An input array in device memory: copied if necessary.
template <class T>
class Resident {
 public:
  Resident(const DeviceArray<const T>& array, std::int64_t size, cudaStream_t stream)
      : copy_(array.on_device ? 0 : size), data_(array.on_device ? array.data : copy_.data()) {
    if (!array.on_device && size > 0)
      check(cudaMemcpyAsync(copy_.data(), array.data, size * sizeof(T), cudaMemcpyHostToDevice,
                            stream),
            "copying to the device");
  }
  const T* data() const { return data_; }

 private:
  DeviceMemory<T> copy_;
  const T* data_;
};

// Specifications with coefficients on the host and on the device.
class ResidentSpecs {
 public:
  ResidentSpecs(std::vector<KernelSpec> specs, cudaStream_t stream) : specs_(std::move(specs)) {
    for (KernelSpec& spec : specs_) {
      if (spec.kind != KernelKind::leaf_counts) continue;
      coefficients_.emplace_back(spec.depth + 1);
      check(cudaMemcpyAsync(coefficients_.back().data(), spec.coefficients,
                            (spec.depth + 1) * sizeof(double), cudaMemcpyHostToDevice, stream),
            "copying to the device");
      spec.coefficients = coefficients_.back().data();
    }
    there_ = DeviceMemory<KernelSpec>(size());
    check(cudaMemcpyAsync(there_.data(), specs_.data(), size() * sizeof(KernelSpec),
                          cudaMemcpyHostToDevice, stream),
          "copying to the device");
  }
  std::int64_t size() const { return static_cast<std::int64_t>(specs_.size()); }
  const KernelSpec& operator[](std::int64_t s) const { return specs_[s]; }
  const KernelSpec* there() const { return there_.data(); }

 private:
  std::vector<KernelSpec> specs_;
  std::vector<DeviceMemory<double>> coefficients_;
  DeviceMemory<KernelSpec> there_;
};

}  // namespace fctree::cuda
