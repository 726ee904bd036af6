// The operations that the pointwise kernels are written in, for plain numbers: used where one
// kernel value is wanted (the diagonal of a Gram matrix) and by device code. lanes.hpp has the
// same for vectors.
#pragma once

#if defined(__CUDACC__)
#define FCTREE_DEVICE __host__ __device__
#else
#define FCTREE_DEVICE
#endif

namespace fctree {
namespace FCTREE_ISA {

#if defined(__CUDA_ARCH__)
// A device inverts roots in one instruction and a step or two.
inline FCTREE_DEVICE double plain_root(double v) { return sqrt(v); }
inline FCTREE_DEVICE float plain_root(float v) { return sqrtf(v); }
inline FCTREE_DEVICE double plain_inverse_root(double v) { return rsqrt(v); }
inline FCTREE_DEVICE float plain_inverse_root(float v) { return rsqrtf(v); }
#else
inline FCTREE_DEVICE double plain_root(double v) { return __builtin_sqrt(v); }
inline FCTREE_DEVICE float plain_root(float v) { return __builtin_sqrtf(v); }
inline FCTREE_DEVICE double plain_inverse_root(double v) { return 1.0 / __builtin_sqrt(v); }
inline FCTREE_DEVICE float plain_inverse_root(float v) { return 1.0f / __builtin_sqrtf(v); }
#endif

// What a kernel may do with a value V beyond + - * /.
template <class V>
struct Number;

template <class T>
struct ScalarNumber {
  using Scalar = T;
  using Mask = bool;
  static FCTREE_DEVICE T set(T value) { return value; }
  static FCTREE_DEVICE T absolute(T v) { return v < T(0) ? -v : v; }
  static FCTREE_DEVICE T larger(T a, T b) { return a > b ? a : b; }
  static FCTREE_DEVICE bool greater(T a, T b) { return a > b; }
  static FCTREE_DEVICE T select(bool mask, T yes, T no) { return mask ? yes : no; }
};

template <>
struct Number<double> : ScalarNumber<double> {
  static FCTREE_DEVICE double inverse_root(double v) { return plain_inverse_root(v); }
  static FCTREE_DEVICE double root(double v) { return plain_root(v); }
};

template <>
struct Number<float> : ScalarNumber<float> {
  static FCTREE_DEVICE float inverse_root(float v) { return plain_inverse_root(v); }
  static FCTREE_DEVICE float root(float v) { return plain_root(v); }
};

}  // namespace FCTREE_ISA
}  // namespace fctree
