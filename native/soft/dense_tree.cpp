#include "soft/dense_tree.hpp"

#include <algorithm>
#include <cmath>

#include "soft/dense.hpp"

namespace fctree::soft {

namespace {

// Shares by erf and their derivatives: the routing of the theory, where speed does not matter.
template <class T>
void erf_routing(const NodeRows<T>& node, T scale) {
  const T height = scale / std::sqrt(static_cast<T>(M_PI));
  for (index_t i = 0; i < node.n; ++i) {
    const T z = scale * node.t_then_left[i];
    const T left = T(0.5) * std::erfc(-z), right = T(0.5) * std::erfc(z);
    const T p = node.probability[i];
    node.t_then_left[i] = left;
    node.slope[i] = p * height * std::exp(-z * z);
    node.left_probability[i] = p * left;
    node.right_probability[i] = p * right;
  }
}

}  // namespace

template <class T>
void DenseTree<T>::route(const Ensemble<T>& trees, index_t node) {
  T* probability = probability_.data();
  const NodeRows<T> rows = {left_.data() + node * stride_,
                            probability + node * stride_,
                            slope_.data() + node * stride_,
                            probability + trees.child(node, 0) * stride_,
                            probability + trees.child(node, 1) * stride_,
                            stride_};
  const DenseKernels<T>& kernels = dense_kernels<T>();
  switch (trees.routing) {
    case Routing::smooth_step:
      return kernels.smooth_step(rows, static_cast<T>(1.0 / trees.gamma));
    case Routing::logistic: return kernels.logistic(rows, static_cast<T>(6.0 / trees.gamma));
    case Routing::erf: return erf_routing(rows, static_cast<T>(trees.scale));
  }
}

template <class T>
void DenseTree<T>::forward(const Ensemble<T>& trees, index_t tree, const SampleBlock<T>& block,
                           T* out) {
  const DenseKernels<T>& kernels = dense_kernels<T>();
  const index_t n_splits = trees.n_splits, n_outputs = trees.n_outputs;
  n_rows_ = block.n_rows();
  stride_ = block.padded_rows();
  left_.resize(n_splits * stride_);
  slope_.resize(n_splits * stride_);
  probability_.resize((2 * n_splits + 1) * stride_);
  output_.assign(n_outputs * stride_, T(0));
  kernels.products(trees.splits_of(tree), n_splits, trees.n_features, block.transposed(), stride_,
                   left_.data());
  std::fill(probability_.begin(), probability_.begin() + stride_, T(1));
  for (index_t node = 0; node < n_splits; ++node) route(trees, node);
  const T* o = trees.leaves_of(tree);
  for (index_t leaf = 0; leaf < trees.n_leaves(); ++leaf)
    for (index_t k = 0; k < n_outputs; ++k)
      kernels.add_scaled(probability_.data() + (n_splits + leaf) * stride_, o[leaf * n_outputs + k],
                         stride_, output_.data() + k * stride_);
  for (index_t i = 0; i < n_rows_; ++i)
    for (index_t k = 0; k < n_outputs; ++k) out[i * n_outputs + k] += output_[k * stride_ + i];
}

template <class T>
void DenseTree<T>::find_derivatives(const Ensemble<T>& trees, index_t tree, const T* gradient) {
  const DenseKernels<T>& kernels = dense_kernels<T>();
  const index_t n_outputs = trees.n_outputs;
  std::fill(output_.begin(), output_.end(), T(0));
  for (index_t i = 0; i < n_rows_; ++i)
    for (index_t k = 0; k < n_outputs; ++k) output_[k * stride_ + i] = gradient[i * n_outputs + k];
  // The values of a split stand in the row of its leftmost leaf.
  const T* o = trees.leaves_of(tree);
  derivative_.resize(slope_.size());
  value_.assign(trees.n_leaves() * stride_, T(0));
  for (index_t leaf = 0; leaf < trees.n_leaves(); ++leaf)
    for (index_t k = 0; k < n_outputs; ++k)
      kernels.add_scaled(output_.data() + k * stride_, o[leaf * n_outputs + k], stride_,
                         value_.data() + leaf * stride_);
  first_leaf_.resize(trees.n_splits);
  const auto row_of = [&](index_t node) {
    return node < trees.n_splits ? first_leaf_[node] : node - trees.n_splits;
  };
  for (index_t node = trees.n_splits - 1; node >= 0; --node) {
    first_leaf_[node] = row_of(trees.child(node, 0));
    kernels.combine(left_.data() + node * stride_, slope_.data() + node * stride_,
                    value_.data() + row_of(trees.child(node, 1)) * stride_, stride_,
                    value_.data() + first_leaf_[node] * stride_,
                    derivative_.data() + node * stride_);
  }
}

template <class T>
void DenseTree<T>::add_split_gradient(const Ensemble<T>& trees, const SampleBlock<T>& block,
                                      const TreePart& part, T* split_gradient,
                                      std::uint8_t* touched) const {
  const index_t n = part.node_end - part.node_begin;
  dense_kernels<T>().add_split_gradient(
      {derivative_.data() + part.node_begin * stride_, n, stride_},
      {block.rows(), n_rows_, block.stride(), trees.n_features},
      split_gradient + part.node_begin * trees.n_features);
  if (touched == nullptr) return;
  // As in the conditional pass: a node with a fractional sample.
  for (index_t node = part.node_begin; node < part.node_end; ++node) {
    const T* derivative = derivative_.data() + node * stride_;
    touched[node] |= std::any_of(derivative, derivative + n_rows_, [](T value) { return value != T(0); });
  }
}

template <class T>
void DenseTree<T>::add_leaf_gradient(const Ensemble<T>& trees, const TreePart& part,
                                     T* leaf_gradient) const {
  const index_t n_outputs = trees.n_outputs;
  for (index_t leaf = part.leaf_begin; leaf < part.leaf_end; ++leaf)
    for (index_t k = 0; k < n_outputs; ++k)
      leaf_gradient[leaf * n_outputs + k] +=
          dense_kernels<T>().dot(probability_.data() + (trees.n_splits + leaf) * stride_,
                                 output_.data() + k * stride_, stride_);
}

template <class T>
void DenseTree<T>::add_input_gradient(const Ensemble<T>& trees, index_t tree,
                                      const SampleBlock<T>& block, T* x_gradient) const {
  dense_kernels<T>().add_input_gradient(
      {derivative_.data(), trees.n_splits, stride_}, trees.splits_of(tree),
      {block.rows(), n_rows_, block.stride(), trees.n_features}, x_gradient);
}

template <class T>
index_t DenseTree<T>::n_reached_leaves(const Ensemble<T>& trees) const {
  if (trees.routing != Routing::smooth_step) return n_rows_ * trees.n_leaves();
  index_t total = 0;
  for (index_t leaf = 0; leaf < trees.n_leaves(); ++leaf) {
    const T* probability = probability_.data() + (trees.n_splits + leaf) * stride_;
    for (index_t i = 0; i < n_rows_; ++i) total += probability[i] > T(0);
  }
  return total;
}

template <class T>
std::size_t DenseTree<T>::bytes() const {
  return (left_.capacity() + slope_.capacity() + derivative_.capacity() + probability_.capacity() + output_.capacity() +
          value_.capacity()) * sizeof(T);
}

template class DenseTree<float>;
template class DenseTree<double>;

}  // namespace fctree::soft
