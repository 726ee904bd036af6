#include "soft/tree_walk.hpp"

#include <algorithm>

namespace fctree::soft {

namespace {

// Grows only, so that a batch like the last one allocates nothing.
template <class Value>
void ensure(std::vector<Value>& values, index_t size) {
  if (static_cast<index_t>(values.size()) < size) values.resize(size + size / 4);
}

template <class T>
WalkInput<T> input_of(const Ensemble<T>& trees, index_t tree, const SampleBlock<T>& block) {
  return {trees.splits_of(tree), trees.children,     trees.n_splits,
          block.rows(),          block.stride(),     block.n_features(),
          static_cast<T>(1.0 / trees.gamma)};
}

// The children below a level, at most: pairs and nodes, of splits (0) and of leaves (1).
struct ChildCounts {
  index_t pairs[2] = {0, 0};
  index_t nodes[2] = {0, 0};
};

template <class T>
ChildCounts count_children(const Ensemble<T>& trees, const Frontier<T>& from) {
  ChildCounts counts;
  for (index_t g = 0; g < from.n_nodes; ++g) {
    const NodeRange range = from.nodes[g];
    for (const index_t side : {0, 1}) {
      const bool leaf = trees.child(range.node, side) >= trees.n_splits;
      counts.pairs[leaf] += range.end - range.begin;
      ++counts.nodes[leaf];
    }
  }
  return counts;
}

// Of n ranges of ascending nodes the first whose node is this one or comes after it.
const NodeRange* first_at(const NodeRange* begin, index_t n, index_t node) {
  return std::lower_bound(begin, begin + n, node,
                          [](const NodeRange& range, index_t at) { return range.node < at; });
}

}  // namespace

template <class T>
Frontier<T> TreeWalk<T>::Level::frontier(index_t n_pairs, index_t n_nodes) {
  // The kernels may write one pair beyond the end.
  ensure(nodes, n_nodes + 1);
  ensure(sample, n_pairs + 1);
  ensure(probability, n_pairs + 1);
  ensure(slot, n_pairs + 1);
  return {nodes.data(), sample.data(), probability.data(), slot.data(), 0, 0};
}

template <class T>
void TreeWalk<T>::Level::extend(Frontier<T>& list, index_t n_pairs, index_t n_nodes) {
  const index_t pairs = list.n_pairs, nodes_before = list.n_nodes;
  list = frontier(pairs + n_pairs, nodes_before + n_nodes);
  list.n_pairs = pairs;
  list.n_nodes = nodes_before;
}

template <class T>
void TreeWalk<T>::make_room_for_records(index_t n_more_pairs, index_t n_more_nodes) {
  const index_t n_records = records_.n_records + n_more_pairs + 2;
  ensure(record_nodes_, records_.n_nodes + n_more_nodes);
  ensure(record_sample_, n_records);
  ensure(record_left_, n_records);
  ensure(record_slope_, n_records);
  ensure(record_slot_, n_records);
  records_.nodes = record_nodes_.data();
  records_.sample = record_sample_.data();
  records_.left = record_left_.data();
  records_.slope = record_slope_.data();
  records_.slot = record_slot_.data();
}

template <class T>
void TreeWalk<T>::forward(const Ensemble<T>& trees, index_t tree, const SampleBlock<T>& block,
                          bool record, T* out) {
  const WalkKernels<T>& kernels = walk_kernels<T>();
  const WalkInput<T> input = input_of(trees, tree, block);
  const index_t n = block.n_rows();
  records_.n_records = 0;
  records_.n_nodes = 0;
  Frontier<T> from = levels_[0].frontier(n, 1);
  for (index_t i = 0; i < n; ++i) {
    from.sample[i] = static_cast<std::uint16_t>(i);
    from.probability[i] = T(1);
    from.slot[i] = 0;
  }
  from.nodes[0] = {0, 0, static_cast<std::int32_t>(n)};
  from.n_nodes = n > 0 ? 1 : 0;
  from.n_pairs = n;
  leaves_ = leaf_level_.frontier(0, 0);
  for (index_t level = 1; from.n_nodes > 0; ++level) {
    if (record) make_room_for_records(from.n_pairs, from.n_nodes);
    const ChildCounts below = count_children(trees, from);
    // Where all leaves have one depth they are a level, and need no room of their own.
    const bool only_leaves = below.nodes[0] == 0 && leaves_.n_pairs == 0;
    Level& lower = levels_[level % 2];
    Frontier<T> to = (only_leaves ? leaf_level_ : lower).frontier(below.pairs[0], below.nodes[0]);
    (only_leaves ? lower : leaf_level_).extend(leaves_, below.pairs[1], below.nodes[1]);
    kernels.route(input, from, to, leaves_, record ? &records_ : nullptr);
    from = to;
  }
  kernels.add_outputs(leaves_, trees.n_splits, trees.leaves_of(tree), trees.n_outputs, out);
}

template <class T>
void TreeWalk<T>::find_derivatives(const Ensemble<T>& trees, index_t tree, const T* gradient) {
  const WalkKernels<T>& kernels = walk_kernels<T>();
  const index_t n_records = records_.n_records + 1;
  ensure(value_, 2 * n_records);
  ensure(derivative_, n_records);
  std::fill(value_.begin(), value_.begin() + 2 * n_records, T(0));
  kernels.leaf_values(leaves_, trees.n_splits, trees.leaves_of(tree), gradient, trees.n_outputs,
                      value_.data());
  kernels.derivatives(records_, value_.data(), derivative_.data());
}

template <class T>
void TreeWalk<T>::add_split_gradient(const Ensemble<T>& trees, const SampleBlock<T>& block,
                                     const TreePart& part, T* split_gradient,
                                     std::uint8_t* touched) const {
  const NodeRange* first = first_at(records_.nodes, records_.n_nodes, part.node_begin);
  // Each level's records are ascending and so are the levels.
  const NodeRange* last = first_at(records_.nodes, records_.n_nodes, part.node_end);
  walk_kernels<T>().add_split_gradient(input_of(trees, 0, block), records_, derivative_.data(),
                                       first, last, split_gradient);
  if (touched == nullptr) return;
  for (const NodeRange* range = first; range != last; ++range) touched[range->node] = 1;
}

template <class T>
void TreeWalk<T>::add_leaf_gradient(const Ensemble<T>& trees, const T* gradient,
                                    const TreePart& part, T* leaf_gradient) const {
  const index_t first_leaf = trees.n_splits;
  const NodeRange* first = first_at(leaves_.nodes, leaves_.n_nodes, first_leaf + part.leaf_begin);
  const NodeRange* last = first_at(leaves_.nodes, leaves_.n_nodes, first_leaf + part.leaf_end);
  walk_kernels<T>().add_leaf_gradient(leaves_, first_leaf, {gradient, trees.n_outputs}, first,
                                      last, leaf_gradient);
}

template <class T>
void TreeWalk<T>::add_input_gradient(const Ensemble<T>& trees, index_t tree,
                                     const SampleBlock<T>& block, T* x_gradient) const {
  walk_kernels<T>().add_input_gradient(input_of(trees, tree, block), records_, derivative_.data(),
                                       x_gradient);
}

template <class T>
void TreeWalk<T>::count_leaves(std::int32_t* counts) const {
  for (index_t e = 0; e < leaves_.n_pairs; ++e) ++counts[leaves_.sample[e]];
}

template <class T>
std::size_t TreeWalk<T>::bytes() const {
  std::size_t total = record_nodes_.capacity() * sizeof(NodeRange);
  total += record_sample_.capacity() * sizeof(std::uint16_t);
  total += record_slot_.capacity() * sizeof(std::int32_t);
  total += (record_left_.capacity() + record_slope_.capacity() + value_.capacity() +
            derivative_.capacity()) * sizeof(T);
  for (const Level* level : {&levels_[0], &levels_[1], &leaf_level_}) {
    total += level->nodes.capacity() * sizeof(NodeRange);
    total += level->sample.capacity() * sizeof(std::uint16_t);
    total += level->probability.capacity() * sizeof(T);
    total += level->slot.capacity() * sizeof(std::int32_t);
  }
  return total;
}

template class TreeWalk<float>;
template class TreeWalk<double>;

}  // namespace fctree::soft
