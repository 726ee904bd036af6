#include "soft/layer.hpp"

#include <algorithm>

namespace fctree::soft {

namespace {

constexpr index_t kManyTrees = 8;  // from here on trees alone keep the threads busy
constexpr index_t kFewRows = 64;

// The measured rule (docs/algorithms/soft_trees.md): up to so many leaves a dense pass never costs
// more than a walk, and beyond them no more once samples reach this share of leaves.
constexpr index_t kAlwaysDense = 4;
constexpr double kDenseShare = 0.25;

}  // namespace

template <class T>
bool dense_is_cheaper(const Ensemble<T>& trees, double reached_leaves) {
  if (trees.routing != Routing::smooth_step || trees.n_leaves() <= kAlwaysDense) return true;
  return reached_leaves > kDenseShare * static_cast<double>(trees.n_leaves());
}

template <class T>
void TreePass<T>::forward(const Ensemble<T>& trees, index_t tree, const SampleBlock<T>& block,
                          bool record) {
  out.assign(block.n_rows() * trees.n_outputs, T(0));
  if (is_dense)
    dense.forward(trees, tree, block, out.data());
  else
    walk.forward(trees, tree, block, record, out.data());
}

template <class T>
void TreePass<T>::find_derivatives(const Ensemble<T>& trees, index_t tree, const T* gradient) {
  if (is_dense)
    dense.find_derivatives(trees, tree, gradient);
  else
    walk.find_derivatives(trees, tree, gradient);
}

template <class T>
index_t TreePass<T>::n_reached_leaves(const Ensemble<T>& trees) const {
  return is_dense ? dense.n_reached_leaves(trees) : walk.n_reached_leaves();
}

template <class T>
bool LayerPass<T>::dense_next(const Ensemble<T>& trees, index_t tree) const {
  if (trees.routing != Routing::smooth_step) return true;
  if (kind_ != PassKind::automatic) return kind_ == PassKind::dense;
  return dense_is_cheaper(trees, reached_[tree]);
}

template <class T>
void LayerPass<T>::forward(const Ensemble<T>& trees, const T* x, index_t n_rows, T* out,
                           const Execution& execution) {
  n_rows_ = n_rows;
  shape_ = shape_of(trees);
  rows_per_block_ = trees.n_trees >= kManyTrees ? kBlockRows : kFewRows;
  n_blocks_ = count_parts(n_rows_, rows_per_block_);
  const index_t n_passes = trees.n_trees * n_blocks_;
  if (static_cast<index_t>(blocks_.size()) < n_blocks_) blocks_.resize(n_blocks_);
  if (static_cast<index_t>(passes_.size()) < n_passes) passes_.resize(n_passes);
  reached_.resize(trees.n_trees, -1.0);
  bool any_dense = false;
  for (index_t tree = 0; tree < trees.n_trees; ++tree) {
    const bool dense = dense_next(trees, tree);
    any_dense |= dense;
    for (index_t block = 0; block < n_blocks_; ++block) pass(tree, block).is_dense = dense;
  }
  for (index_t block = 0; block < n_blocks_; ++block) {
    const index_t n = std::min(rows_per_block_, n_rows_ - first_row(block));
    blocks_[block].pack(x + first_row(block) * trees.n_features, n, trees.n_features);
    if (any_dense) blocks_[block].transpose();
  }
  parallel_for(execution, n_passes, [&](index_t task) {
    const index_t tree = task / n_blocks_, block = task % n_blocks_;
    pass(tree, block).forward(trees, tree, blocks_[block], true);
  });
  add_up(trees, out);
}

template <class T>
void LayerPass<T>::add_up(const Ensemble<T>& trees, T* out) {
  std::fill(out, out + n_rows_ * trees.n_outputs, T(0));
  n_reached_leaves_ = 0;
  for (index_t tree = 0; tree < trees.n_trees; ++tree) {
    index_t reached = 0;
    for (index_t block = 0; block < n_blocks_; ++block) {
      const TreePass<T>& part = pass(tree, block);
      T* at = out + first_row(block) * trees.n_outputs;
      for (std::size_t i = 0; i < part.out.size(); ++i) at[i] += part.out[i];
      reached += part.n_reached_leaves(trees);
    }
    n_reached_leaves_ += reached;
    if (n_rows_ > 0) reached_[tree] = static_cast<double>(reached) / static_cast<double>(n_rows_);
  }
}

template <class T>
void LayerPass<T>::find_derivatives(const Ensemble<T>& trees, const T* gradient,
                                    const Execution& execution) {
  parallel_for(execution, trees.n_trees * n_blocks_, [&](index_t task) {
    const index_t tree = task / n_blocks_, block = task % n_blocks_;
    pass(tree, block).find_derivatives(trees, tree,
                                       gradient + first_row(block) * trees.n_outputs);
  });
}

template <class T>
index_t LayerPass<T>::n_parts(const Ensemble<T>& trees) const {
  if (trees.n_trees >= kManyTrees) return 1;
  return std::min(count_parts(kManyTrees, trees.n_trees), trees.n_splits);
}

template <class T>
TreePart LayerPass<T>::part_of(const Ensemble<T>& trees, index_t part) const {
  const Partition nodes = {trees.n_splits, n_parts(trees)};
  const Partition leaves = {trees.n_leaves(), n_parts(trees)};
  return {nodes.begin(part), nodes.end(part), leaves.begin(part), leaves.end(part)};
}

template <class T>
void LayerPass<T>::add_gradients(const Ensemble<T>& trees, const T* gradient, index_t tree,
                                 index_t part, const EnsembleGradients<T>& gradients) const {
  const TreePart range = part_of(trees, part);
  T* splits = gradients.split_weights + tree * trees.n_splits * trees.n_features;
  T* leaves = gradients.leaf_weights + tree * trees.n_leaves() * trees.n_outputs;
  std::uint8_t* touched =
      gradients.touched == nullptr ? nullptr : gradients.touched + tree * trees.n_splits;
  for (index_t block = 0; block < n_blocks_; ++block) {
    check_interrupt();
    const TreePass<T>& done = pass(tree, block);
    const T* rows = gradient + first_row(block) * trees.n_outputs;
    if (done.is_dense) {
      done.dense.add_split_gradient(trees, blocks_[block], range, splits, touched);
      done.dense.add_leaf_gradient(trees, range, leaves);
    } else {
      done.walk.add_split_gradient(trees, blocks_[block], range, splits, touched);
      done.walk.add_leaf_gradient(trees, rows, range, leaves);
    }
  }
}

template <class T>
void LayerPass<T>::add_all_gradients(const Ensemble<T>& trees, const T* gradient,
                                     const EnsembleGradients<T>& gradients,
                                     const Execution& execution) const {
  const index_t parts = n_parts(trees);
  parallel_for(execution, trees.n_trees * parts, [&](index_t task) {
    add_gradients(trees, gradient, task / parts, task % parts, gradients);
  });
}

template <class T>
void LayerPass<T>::input_gradient(const Ensemble<T>& trees, T* x_gradient,
                                  const Execution& execution) const {
  parallel_for(execution, n_blocks_, [&](index_t block) {
    const SampleBlock<T>& samples = blocks_[block];
    std::vector<T> sum(samples.n_rows() * samples.stride(), T(0));
    for (index_t tree = 0; tree < trees.n_trees; ++tree) {
      const TreePass<T>& done = pass(tree, block);
      if (done.is_dense)
        done.dense.add_input_gradient(trees, tree, samples, sum.data());
      else
        done.walk.add_input_gradient(trees, tree, samples, sum.data());
    }
    for (index_t i = 0; i < samples.n_rows(); ++i)
      std::copy_n(sum.data() + i * samples.stride(), trees.n_features,
                  x_gradient + (first_row(block) + i) * trees.n_features);
  });
}

template <class T>
std::size_t LayerPass<T>::bytes() const {
  std::size_t total = 0;
  for (const SampleBlock<T>& block : blocks_) total += block.bytes();
  for (const TreePass<T>& done : passes_)
    total += done.walk.bytes() + done.dense.bytes() + done.out.capacity() * sizeof(T);
  return total;
}

template struct TreePass<float>;
template struct TreePass<double>;
template class LayerPass<float>;
template class LayerPass<double>;
template bool dense_is_cheaper(const Ensemble<float>&, double);
template bool dense_is_cheaper(const Ensemble<double>&, double);

}  // namespace fctree::soft
