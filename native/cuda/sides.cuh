// What a call is divided into: samples as panels on the device, problems whose panels fit at once,
// and slabs of their rows of tiles.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/device.h"
#include "cuda/launches.cuh"
#include "cuda/queue.cuh"

namespace fctree::cuda {

using namespace FCTREE_ISA;

constexpr std::int64_t kSlabBytes = std::int64_t(1) << 30;

// Times that float64 is slower than half the rate of float32, which is many on consumers' devices.
template <class T>
double slowness() {
  if (sizeof(T) == sizeof(float)) return 1.0;
  int device = 0, ratio = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device),
        "asking for the device's speed");
  return std::max(1.0, ratio / 2.0);
}

// Multiply-adds of a tile, an operation of a kernel value counted as one.
template <class T>
double work_per_tile(const PanelRows<T>& rows, double per_entry) {
  return (static_cast<double>(rows.depth) + per_entry) * kTileSize<T> * slowness<T>();
}

// Operations of a kernel value, besides the product.
inline double operations_of(const KernelSpec& spec) {
  constexpr double kOfMost = 60.0, kOfCoefficient = 6.0;
  const double depth = static_cast<double>(spec.depth);
  if (spec.kind == KernelKind::relu) return kOfMost * depth;
  return spec.kind == KernelKind::leaf_counts ? kOfMost + kOfCoefficient * depth : kOfMost;
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
      : symmetric_(input.symmetric()),
        left_(input.x, input.n_problems, scaling_of(kind, input.scale), queue) {
    if (!symmetric_)
      right_.emplace_back(input.y, input.n_problems, scaling_of(kind, input.scale), queue);
  }
  bool symmetric() const { return symmetric_; }
  PanelRows<T> left() const { return left_.view(); }
  PanelRows<T> right() const { return symmetric_ ? left_.view() : right_[0].view(); }

 private:
  bool symmetric_;
  DevicePanels<T> left_;
  std::vector<DevicePanels<T>> right_;
};

// Some rows of tiles of some problems, computed at a time.
struct Slab {
  std::int64_t problem, n_problems, tile, n_tiles;
  bool whole;  // all rows of its problems
};

template <class T>
std::int64_t rows_of(const Slab& slab, const PanelRows<T>& rows) {
  return std::min(slab.n_tiles * TileShape<T>::tile, rows.n_rows - slab.tile * TileShape<T>::tile);
}

// Whole problems if several fit, else rows of tiles of one.
template <class T>
std::vector<Slab> cut(const PanelRows<T>& rows, std::int64_t n_problems, double row_bytes,
                      std::int64_t max_bytes) {
  const double fitting = std::max(1.0, max_bytes / (row_bytes * rows.n_rows));
  std::vector<Slab> slabs;
  if (row_bytes * rows.n_rows <= max_bytes) {
    const auto step = static_cast<std::int64_t>(std::min<double>(fitting, n_problems));
    for (std::int64_t b = 0; b < n_problems; b += step)
      slabs.push_back({b, std::min(step, n_problems - b), 0, rows.n_tiles, true});
    return slabs;
  }
  const double tiles = std::max(1.0, max_bytes / (row_bytes * TileShape<T>::tile));
  const auto step = static_cast<std::int64_t>(std::min<double>(tiles, rows.n_tiles));
  for (std::int64_t b = 0; b < n_problems; ++b)
    for (std::int64_t tile = 0; tile < rows.n_tiles; tile += step)
      slabs.push_back({b, 1, tile, std::min(step, rows.n_tiles - tile), false});
  return slabs;
}

// Rows from a tile of a problem on.
template <class T>
PanelRows<T> shifted(PanelRows<T> rows, std::int64_t problem, std::int64_t tile) {
  const std::int64_t first = rows.first(problem, tile);
  rows.panels += first * rows.depth;
  rows.self += first;
  rows.gap += first;
  rows.factor += first;
  return rows;
}

// The rows of a slab as a problem of its own.
template <class T>
PanelRows<T> part_of(const PanelRows<T>& all, const Slab& slab) {
  PanelRows<T> rows = shifted(all, slab.problem, slab.tile);
  if (!slab.whole) {
    rows.n_rows = rows_of(slab, all);
    rows.n_tiles = slab.n_tiles;
  }
  return rows;
}

// Bytes for something that needs so many: as requested, or a quarter of the free memory. Little is not
// worth asking the device.
inline std::int64_t bytes_at_once(const DeviceCall& call, double needed) {
  constexpr std::int64_t kLittle = std::int64_t(1) << 22;
  if (call.max_bytes > 0) return call.max_bytes;
  if (needed <= kLittle) return kLittle;
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return static_cast<std::int64_t>(free / 4);
}

// The same of a slab, at most a gigabyte unless requested.
inline std::int64_t slab_bytes(const DeviceCall& call, double needed) {
  return call.max_bytes > 0 ? call.max_bytes : std::min(kSlabBytes, bytes_at_once(call, needed));
}

template <class T>
double panel_bytes(const DeviceSamples<T>& samples) {
  constexpr double kOfRow = 3.0;  // self, gap and factor
  return static_cast<double>(round_up(samples.n_rows, TileShape<T>::tile)) *
         (round_up(samples.n_features, kGroup) + kOfRow) * sizeof(T);
}

template <class T>
DeviceSamples<T> from_problem(DeviceSamples<T> samples, std::int64_t problem) {
  if (samples.array.data != nullptr)
    samples.array.data += problem * samples.n_rows * samples.n_features;
  return samples;
}

// visit(first, input of problems `first` and following), as many at a time as have panels that fit.
template <class T, class Visit>
void in_batches(const DeviceInput<T>& input, const DeviceCall& call, const Visit& visit) {
  const double bytes = panel_bytes(input.x) + panel_bytes(input.y);
  std::int64_t step = input.n_problems;
  if (step > 1)
    step = static_cast<std::int64_t>(std::min<double>(
        step, std::max(1.0, bytes_at_once(call, bytes * step) / bytes)));
  for (std::int64_t b = 0; b < input.n_problems; b += step)
    visit(b, DeviceInput<T>{from_problem(input.x, b), from_problem(input.y, b),
                            std::min(step, input.n_problems - b), input.scale});
}

}  // namespace fctree::cuda
