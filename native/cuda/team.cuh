// A block of threads as the programs see it (product.hpp), on the device; emulation.cpp is its
// counterpart on the CPU.
#pragma once

#include "cuda/vectors.hpp"

namespace fctree::cuda::FCTREE_ISA {

template <class T>
struct SharedMemory {
  T* elements;

  __device__ T load(int index) const { return elements[index]; }
  __device__ void store(int index, T value) const { elements[index] = value; }
  __device__ Pack<T> load_pack(int index) const {
    return *reinterpret_cast<const Pack<T>*>(elements + index);
  }
  __device__ void store_pack(int index, const Pack<T>& values) const {
    *reinterpret_cast<Pack<T>*>(elements + index) = values;
  }
  // 16 bytes from global memory, copied asynchronously.
  __device__ void copy(int index, const T* from) const {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(elements + index));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  }
};

// c (16 x 8) += a (16 x 4) b (4 x 8), float64, over a warp's lanes.
__device__ inline void multiply_16_by_8(double* c, const double* a, double b) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(b));
#else
#pragma unroll
  for (int half = 0; half < 2; ++half)
    asm volatile(
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
        : "d"(a[half]), "d"(b));
#endif
}

template <class T>
struct DeviceTeam {
  SharedMemory<T> shared;
  Registers<T> registers;

  __device__ explicit DeviceTeam(unsigned char* memory)
      : shared{reinterpret_cast<T*>(memory)} {}

  template <class Step>
  __device__ void lanes(const Step& step) {
    step(static_cast<int>(threadIdx.x), registers);
  }
  __device__ void barrier() const { __syncthreads(); }
  __device__ void finish_group() const { asm volatile("cp.async.commit_group;" ::: "memory"); }
  __device__ void wait_for_group() const { asm volatile("cp.async.wait_group 1;" ::: "memory"); }
  __device__ static float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }

  __device__ void multiply_fragments() {
#pragma unroll
    for (int m = 0; m < 3; ++m)
#pragma unroll
      for (int n = 0; n < 4; ++n)
        multiply_16_by_8(registers.sums[m][n], registers.left[m], registers.right[n]);
  }

  // A matrix is written once and not read again: its cache lines are evicted first.
  __device__ void store(T* to, T value) const { __stcs(to, value); }
  __device__ void store_pack(float* to, const Pack<float>& v) const {
    __stcs(reinterpret_cast<float4*>(to), make_float4(v.v[0], v.v[1], v.v[2], v.v[3]));
  }
  __device__ void store_pack(double* to, const Pack<double>& v) const {
    __stcs(reinterpret_cast<double2*>(to), make_double2(v.v[0], v.v[1]));
  }
};

}  // namespace fctree::cuda::FCTREE_ISA
