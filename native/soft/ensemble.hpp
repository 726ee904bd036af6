// An ensemble of soft trees as arrays (Hazimeh et al. 2020, section 2): binary trees of one shape;
// the output is the sum over the trees.
//
// Splits and leaves are numbered breadth-first, left first: the splits from 0, the leaves after
// them. A split's number is smaller than those of its children.
#pragma once

#include "core/types.hpp"

namespace fctree::soft {

// The probability S(t) of going left at t = <w, x>:
//   smooth_step  -2 t^3 / gamma^3 + 3 t / (2 gamma) + 1/2, cut to 0 and 1 at -+ gamma / 2
//   logistic     1 / (1 + exp(-6 t / gamma)), of the same slope at 0
//   erf          (1 + erf(scale t)) / 2, as in the theory of tree kernels
enum class Routing { smooth_step = 0, logistic, erf };

template <class T>
struct Ensemble {
  const T* split_weights;  // (n_trees, n_splits, n_features)
  const T* leaf_weights;   // (n_trees, n_splits + 1, n_outputs)
  const std::int32_t* children;  // (n_splits, 2), left and right; null for 2 i + 1 and 2 i + 2
  index_t n_trees;
  index_t n_splits;
  index_t n_features;
  index_t n_outputs;
  Routing routing;
  double gamma;
  double scale;

  index_t n_leaves() const { return n_splits + 1; }
  // A child of a split, right for side 1: a split, or n_splits + the number of a leaf.
  index_t child(index_t split, index_t side) const {
    return children == nullptr ? 2 * split + 1 + side : children[2 * split + side];
  }
  const T* splits_of(index_t tree) const { return split_weights + tree * n_splits * n_features; }
  const T* leaves_of(index_t tree) const { return leaf_weights + tree * n_leaves() * n_outputs; }
};

// A range of a tree's parameters: internal nodes and leaves in breadth-first order.
struct TreePart {
  index_t node_begin;
  index_t node_end;
  index_t leaf_begin;
  index_t leaf_end;
};

}  // namespace fctree::soft
