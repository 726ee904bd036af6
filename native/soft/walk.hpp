// The loops of the conditional passes (Hazimeh et al. 2020, algorithms 1 and 2) over one tree and
// one block of samples, behind one table of functions per instruction set and type.
//
// A walk goes down level by level. Its frontier is the list of (node, sample) pairs with
// P(x -> node) > 0 of one level, ordered by node: the samples of a node are adjacent, so that its
// weights are read once, and a child that no sample reaches never appears. Pairs whose node is a
// leaf leave the walk for a list of their own. Nodes are numbered as in ensemble.hpp.
//
// A pair whose node is fractional (0 < S < 1) leaves a record, numbered from 1 in the order of the
// walk, so children have larger numbers than their parents. Hard-routed pairs leave none: records
// are the internal nodes of the paper's fractional trees. A pair's contribution to the backward
// pass goes to its `slot`: 2 r for the left and 2 r + 1 for the right side of record r,
// the nearest fractional one above; 0 where there is none.
#pragma once

#include <cstdint>

namespace fctree::soft {

// Samples in a block, at most: they are numbered by 16 bits, and lists of them stay in the L1
// cache.
constexpr std::int64_t kBlockRows = 256;

// The entries begin .. end of a list belong to this node.
struct NodeRange {
  std::int32_t node;
  std::int32_t begin;
  std::int32_t end;
};

// The pairs of one level, or of all leaves.
template <class T>
struct Frontier {
  NodeRange* nodes;
  std::uint16_t* sample;
  T* probability;
  std::int32_t* slot;
  std::int64_t n_nodes;
  std::int64_t n_pairs;
};

// The fractional pairs of all levels; ranges of `nodes` count from record 1.
template <class T>
struct FractionalRecords {
  NodeRange* nodes;
  std::uint16_t* sample;
  T* left;              // S
  T* slope;             // P S'
  std::int32_t* slot;
  std::int64_t n_nodes;
  std::int64_t n_records;
};

// One tree's weights and a block of samples, rows of `stride` elements, zeros behind n_features.
template <class T>
struct WalkInput {
  const T* split_weights;  // (n_splits, n_features)
  const std::int32_t* children;  // (n_splits, 2); null for 2 i + 1 and 2 i + 2
  std::int64_t n_splits;
  const T* x;
  std::int64_t stride;
  std::int64_t n_features;
  T inverse_gamma;
};

// The derivatives of the loss with respect to the outputs: (n_samples, n_outputs).
template <class T>
struct OutputGradient {
  const T* values;
  std::int64_t n_outputs;
};

template <class T>
struct WalkKernels {
  // The splits of the level below `from`; its leaves are added to `leaves`. O(n_features) per
  // pair. With `records` null nothing is recorded.
  void (*route)(const WalkInput<T>& input, const Frontier<T>& from, Frontier<T>& to,
                Frontier<T>& leaves, FractionalRecords<T>* records);
  // out (rows, n_outputs) += P o_l over the pairs of leaves. O(n_outputs) per pair.
  void (*add_outputs)(const Frontier<T>& leaves, std::int64_t first_leaf, const T* leaf_weights,
                      std::int64_t n_outputs, T* out);
  // value[slot] = <gradient of the sample, o_l> for the pairs of leaves.
  void (*leaf_values)(const Frontier<T>& leaves, std::int64_t first_leaf, const T* leaf_weights,
                      const T* gradient, std::int64_t n_outputs, T* value);
  // From the last record to the first: the record's own value, S value[left] + (1 - S)
  // value[right], goes to its slot, and derivative[r], by <w, x>, becomes
  // P S' (value[left] - value[right]). O(1) per record.
  void (*derivatives)(const FractionalRecords<T>& records, T* value, T* derivative);
  // weights_gradient[node] += sum of derivative * x over the records of nodes first .. last of
  // `records.nodes`. O(n_features) per record.
  void (*add_split_gradient)(const WalkInput<T>& input, const FractionalRecords<T>& records,
                             const T* derivative, const NodeRange* first, const NodeRange* last,
                             T* gradient);
  // leaf_gradient[l] += P * gradient of the sample over the pairs of ranges first .. last.
  void (*add_leaf_gradient)(const Frontier<T>& leaves, std::int64_t first_leaf,
                            const OutputGradient<T>& output, const NodeRange* first,
                            const NodeRange* last, T* gradient);
  // x_gradient (rows, stride) += derivative * w over all records. O(n_features) per record.
  void (*add_input_gradient)(const WalkInput<T>& input, const FractionalRecords<T>& records,
                             const T* derivative, T* gradient);
};

// The table of the instruction set in use (kernel_tables.cpp).
template <class T>
const WalkKernels<T>& walk_kernels();
template <>
const WalkKernels<double>& walk_kernels<double>();
template <>
const WalkKernels<float>& walk_kernels<float>();

}  // namespace fctree::soft
