// The dense forward and backward pass of one tree over one block of samples: every node of every
// sample, O(leaves) values per sample. The same functions as tree_walk.hpp, the same results up
// to rounding.
#pragma once

#include <cstdint>
#include <vector>

#include "soft/block.hpp"
#include "soft/ensemble.hpp"

namespace fctree::soft {

template <class T>
class DenseTree {
 public:
  void forward(const Ensemble<T>& trees, index_t tree, const SampleBlock<T>& block, T* out);
  void find_derivatives(const Ensemble<T>& trees, index_t tree, const T* gradient);
  void add_split_gradient(const Ensemble<T>& trees, const SampleBlock<T>& block,
                          const TreePart& part, T* split_gradient, std::uint8_t* touched) const;
  void add_leaf_gradient(const Ensemble<T>& trees, const TreePart& part, T* leaf_gradient) const;
  void add_input_gradient(const Ensemble<T>& trees, index_t tree, const SampleBlock<T>& block,
                          T* x_gradient) const;
  index_t n_reached_leaves(const Ensemble<T>& trees) const;
  std::size_t bytes() const;

 private:
  void route(const Ensemble<T>& trees, index_t node);

  index_t n_rows_ = 0;
  index_t stride_ = 0;
  std::vector<T> left_;         // S, (n_splits, stride)
  std::vector<T> slope_;        // P S'
  std::vector<T> derivative_;   // by <w, x>
  std::vector<T> probability_;  // (n_splits + n_leaves, stride)
  std::vector<T> output_;       // (n_outputs, stride), the gradient by it in the backward pass
  std::vector<T> value_;        // (n_leaves, stride)
  std::vector<index_t> first_leaf_;  // of each split, the leaf that is always to the left
};

}  // namespace fctree::soft
