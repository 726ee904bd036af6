// Sixteen bytes of adjacent numbers as one value: the unit of computation and stores of a GPU
// thread. The pointwise kernels accept it like numbers and vectors
// (kernels/scalars.hpp, kernels/lanes.hpp).
#pragma once

#include "kernels/scalars.hpp"

namespace fctree::cuda::FCTREE_ISA {

using namespace kernels;
using namespace kernels::FCTREE_ISA;

template <class T>
constexpr int kPack = 16 / sizeof(T);

template <class T>
struct alignas(16) Pack {
  T v[kPack<T>];

  template <class Function>
  static FCTREE_DEVICE Pack of(const Function& function) {
    Pack result;
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) result.v[i] = function(i);
    return result;
  }
};

template <class T>
struct PackMask {
  bool v[kPack<T>];
};

#define FCTREE_PACK_OPERATOR(op)                                         \
  template <class T>                                                     \
  FCTREE_DEVICE inline Pack<T> operator op(const Pack<T>& a, const Pack<T>& b) {          \
    return Pack<T>::of([&](int i) { return a.v[i] op b.v[i]; });         \
  }                                                                      \
  template <class T>                                                     \
  FCTREE_DEVICE inline Pack<T> operator op(const Pack<T>& a, decltype(T() + T()) b) {     \
    return Pack<T>::of([&](int i) { return a.v[i] op b; });              \
  }                                                                      \
  template <class T>                                                     \
  FCTREE_DEVICE inline Pack<T> operator op(decltype(T() + T()) a, const Pack<T>& b) {     \
    return Pack<T>::of([&](int i) { return a op b.v[i]; });              \
  }
FCTREE_PACK_OPERATOR(+)
FCTREE_PACK_OPERATOR(-)
FCTREE_PACK_OPERATOR(*)
FCTREE_PACK_OPERATOR(/)
#undef FCTREE_PACK_OPERATOR

template <class T>
FCTREE_DEVICE inline Pack<T> operator-(const Pack<T>& a) {
  return Pack<T>::of([&](int i) { return -a.v[i]; });
}

}  // namespace fctree::cuda::FCTREE_ISA

namespace fctree::kernels::FCTREE_ISA {

template <class T>
struct Number<cuda::FCTREE_ISA::Pack<T>> {
  using Scalar = T;
  using Mask = cuda::FCTREE_ISA::PackMask<T>;
  using V = cuda::FCTREE_ISA::Pack<T>;
  using One = Number<T>;

  static FCTREE_DEVICE V set(T value) {
    return V::of([&](int) { return value; });
  }
  static FCTREE_DEVICE V absolute(const V& a) {
    return V::of([&](int i) { return One::absolute(a.v[i]); });
  }
  static FCTREE_DEVICE V larger(const V& a, const V& b) {
    return V::of([&](int i) { return One::larger(a.v[i], b.v[i]); });
  }
  static FCTREE_DEVICE Mask greater(const V& a, const V& b) {
    Mask mask;
#pragma unroll
    for (int i = 0; i < cuda::FCTREE_ISA::kPack<T>; ++i) mask.v[i] = a.v[i] > b.v[i];
    return mask;
  }
  static FCTREE_DEVICE V select(const Mask& mask, const V& yes, const V& no) {
    return V::of([&](int i) { return mask.v[i] ? yes.v[i] : no.v[i]; });
  }
  static FCTREE_DEVICE V inverse_root(const V& a) {
    return V::of([&](int i) { return One::inverse_root(a.v[i]); });
  }
};

}  // namespace fctree::kernels::FCTREE_ISA
