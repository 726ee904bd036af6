// The operations that the pointwise kernels are written in, for plain numbers: used for single
// kernel values (the diagonal of a Gram matrix) and by device code. lanes.hpp has the
// same for vectors.
#pragma once

#if defined(__CUDACC__)
#define FCTREE_DEVICE __host__ __device__
#else
#define FCTREE_DEVICE
#endif

namespace fctree::kernels::FCTREE_ISA {

#if defined(__CUDA_ARCH__)
inline FCTREE_DEVICE double plain_size(double v) { return fabs(v); }
inline FCTREE_DEVICE float plain_size(float v) { return fabsf(v); }
// The kernels never need the inverse root of 0 or of a subnormal number, so the device's own
// approximations suffice: one instruction, 23 bits; of a double's root 20 bits at least, which the
// series of (1 - e)^(-1/2) brings to 53.
inline FCTREE_DEVICE float plain_inverse_root(float v) {
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}
inline FCTREE_DEVICE double plain_inverse_root(double v) {
  double guess;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(v));
  const double e = fma(-(v * guess), guess, 1.0);
  return fma(guess * e, fma(0.375, e, 0.5), guess);
}
#else
template <class T>
inline FCTREE_DEVICE T plain_size(T v) { return v < T(0) ? -v : v; }
inline FCTREE_DEVICE double plain_inverse_root(double v) { return 1.0 / __builtin_sqrt(v); }
inline FCTREE_DEVICE float plain_inverse_root(float v) { return 1.0f / __builtin_sqrtf(v); }
#endif

// The operations of kernels on a value V besides + - * /.
template <class V>
struct Number;

template <class T>
struct ScalarNumber {
  using Scalar = T;
  using Mask = bool;
  static FCTREE_DEVICE T set(T value) { return value; }
  static FCTREE_DEVICE T absolute(T v) { return plain_size(v); }
  static FCTREE_DEVICE T larger(T a, T b) { return a > b ? a : b; }
  static FCTREE_DEVICE bool greater(T a, T b) { return a > b; }
  static FCTREE_DEVICE T select(bool mask, T yes, T no) { return mask ? yes : no; }
};

template <>
struct Number<double> : ScalarNumber<double> {
  static FCTREE_DEVICE double inverse_root(double v) { return plain_inverse_root(v); }
};

template <>
struct Number<float> : ScalarNumber<float> {
  static FCTREE_DEVICE float inverse_root(float v) { return plain_inverse_root(v); }
};

}  // namespace fctree::kernels::FCTREE_ISA
