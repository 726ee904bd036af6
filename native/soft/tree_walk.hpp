// The conditional forward and backward pass of one tree over one block of samples (Hazimeh et al.
// 2020, algorithms 1 and 2), and the memory that the two share: O(reached leaves) values, two
// integers per fractional node and leaf, and three lists: two levels' splits and the leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "soft/block.hpp"
#include "soft/ensemble.hpp"
#include "soft/walk.hpp"

namespace fctree::soft {

template <class T>
class TreeWalk {
 public:
  // out (rows, n_outputs) += the tree's output. O(n_features) per reached internal node and
  // O(n_outputs) per reached leaf.
  void forward(const Ensemble<T>& trees, index_t tree, const SampleBlock<T>& block, bool record,
               T* out);
  // From the gradient by the output, (rows, n_outputs), the derivative by <w, x> at every
  // fractional node.
  void find_derivatives(const Ensemble<T>& trees, index_t tree, const T* gradient);
  // Adds this range's gradients; sets touched[node] if not null.
  void add_split_gradient(const Ensemble<T>& trees, const SampleBlock<T>& block,
                          const TreePart& part, T* split_gradient, std::uint8_t* touched) const;
  void add_leaf_gradient(const Ensemble<T>& trees, const T* gradient, const TreePart& part,
                         T* leaf_gradient) const;
  // x_gradient (rows, block.stride()) += the gradient by the samples.
  void add_input_gradient(const Ensemble<T>& trees, index_t tree, const SampleBlock<T>& block,
                          T* x_gradient) const;
  // Adds to each sample the number of leaves it reached.
  void count_leaves(std::int32_t* counts) const;
  index_t n_reached_leaves() const { return leaves_.n_pairs; }
  std::size_t bytes() const;

 private:
  struct Level {
    std::vector<NodeRange> nodes;
    std::vector<std::uint16_t> sample;
    std::vector<T> probability;
    std::vector<std::int32_t> slot;
    // An empty list with room for so many.
    Frontier<T> frontier(index_t n_pairs, index_t n_nodes);
    // `list`, which stays as it is, with room for more.
    void extend(Frontier<T>& list, index_t n_pairs, index_t n_nodes);
  };

  void make_room_for_records(index_t n_more_pairs, index_t n_more_nodes);

  Level levels_[2];
  Level leaf_level_;
  Frontier<T> leaves_{};
  FractionalRecords<T> records_{};
  std::vector<NodeRange> record_nodes_;
  std::vector<std::uint16_t> record_sample_;
  std::vector<T> record_left_;
  std::vector<T> record_slope_;
  std::vector<std::int32_t> record_slot_;
  std::vector<T> value_;
  std::vector<T> derivative_;
};

}  // namespace fctree::soft
