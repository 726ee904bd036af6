// The loops of the dense passes over one tree and one block of samples: every node for every
// sample, lanes are samples. For routings without exact zeros, and for trees so shallow that
// skipping zeros costs more than it saves.
//
// Tables are (rows of nodes, `stride` samples); samples beyond the last are zeros in x and in the
// gradients, so they contribute nothing.
#pragma once

#include <cstdint>

namespace fctree::soft {

// A node's samples: <w, x> and P(x -> node) in; S, P S' and both children's P out.
template <class T>
struct NodeRows {
  T* t_then_left;  // <w, x>, overwritten with S
  const T* probability;
  T* slope;
  T* left_probability;
  T* right_probability;
  std::int64_t n;
};

// The derivatives of the loss with respect to <w, x>: (n_nodes, stride).
template <class T>
struct SplitDerivatives {
  const T* values;
  std::int64_t n_nodes;
  std::int64_t stride;
};

// Samples as rows of `stride` features, n_features of them used.
template <class T>
struct SampleRows {
  const T* values;
  std::int64_t n_rows;
  std::int64_t stride;
  std::int64_t n_features;
};

template <class T>
struct DenseKernels {
  // t (n_nodes, stride) = W x', W (n_nodes, n_features), x' (n_features, stride).
  void (*products)(const T* w, std::int64_t n_nodes, std::int64_t n_features,
                   const T* x_transposed, std::int64_t stride, T* t);
  void (*smooth_step)(const NodeRows<T>& node, T inverse_gamma);
  // S = 1 / (1 + exp(-rate t)); both sides without cancellation.
  void (*logistic)(const NodeRows<T>& node, T rate);
  // out (n) += a * value.
  void (*add_scaled)(const T* value, T a, std::int64_t n, T* out);
  // The sum over the n samples of a * b.
  T (*dot)(const T* a, const T* b, std::int64_t n);
  // value = S left + (1 - S) right, written over `left`; derivative = P S' (left - right).
  void (*combine)(const T* left_share, const T* slope, const T* right, std::int64_t n, T* left,
                  T* derivative);
  // gradient (n_nodes, n_features) += derivative x.
  void (*add_split_gradient)(const SplitDerivatives<T>& derivative, const SampleRows<T>& x,
                             T* gradient);
  // gradient, of the shape of x, += derivative' W; the values of x are not read.
  void (*add_input_gradient)(const SplitDerivatives<T>& derivative, const T* w,
                             const SampleRows<T>& x, T* gradient);
};

// The table of the instruction set in use (kernel_tables.cpp).
template <class T>
const DenseKernels<T>& dense_kernels();
template <>
const DenseKernels<double>& dense_kernels<double>();
template <>
const DenseKernels<float>& dense_kernels<float>();

}  // namespace fctree::soft
