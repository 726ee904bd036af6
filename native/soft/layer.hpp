// The passes of a whole ensemble over a batch: trees and blocks of samples in parallel, sums in
// the order of trees and blocks, so that results do not depend on threads.
#pragma once

#include <array>
#include <vector>

#include "core/parallel.hpp"
#include "soft/block.hpp"
#include "soft/dense_tree.hpp"
#include "soft/ensemble.hpp"
#include "soft/tree_walk.hpp"

namespace fctree::soft {

// How passes are computed: `automatic` chooses by cost (docs/algorithms/soft_trees.md).
enum class PassKind { automatic = 0, conditional, dense };

// Gradients of a loss by the parameters, accumulated.
template <class T>
struct EnsembleGradients {
  T* split_weights;       // (n_trees, n_splits, n_features)
  T* leaf_weights;        // (n_trees, n_leaves, n_outputs)
  std::uint8_t* touched;  // (n_trees, n_splits): which rows of splits have received gradients; or null
};

// One tree and one block, conditional or dense.
template <class T>
struct TreePass {
  TreeWalk<T> walk;
  DenseTree<T> dense;
  bool is_dense = false;
  std::vector<T> out;  // (rows, n_outputs)

  void forward(const Ensemble<T>& trees, index_t tree, const SampleBlock<T>& block, bool record);
  void find_derivatives(const Ensemble<T>& trees, index_t tree, const T* gradient);
  index_t n_reached_leaves(const Ensemble<T>& trees) const;
};

template <class T>
class LayerPass {
 public:
  explicit LayerPass(PassKind kind = PassKind::automatic) : kind_(kind) {}

  // Leaves that a sample reached on average in each tree's last pass, by which passes are chosen;
  // -1 where there was none.
  const std::vector<double>& reached() const { return reached_; }
  void remember_reached(const double* reached, index_t n_trees) {
    reached_.assign(reached, reached + n_trees);
  }

  // out (n_rows, n_outputs) = the ensemble's output for x (n_rows, n_features). Keeps the state for the backward pass.
  void forward(const Ensemble<T>& trees, const T* x, index_t n_rows, T* out, const Execution& execution);
  // Steps of the backward pass after `forward`, for gradients (n_rows, n_outputs) by the output:
  // first the derivatives, then, in any order, the sums.
  void find_derivatives(const Ensemble<T>& trees, const T* gradient, const Execution& execution);
  index_t n_parts(const Ensemble<T>& trees) const;
  void add_gradients(const Ensemble<T>& trees, const T* gradient, index_t tree, index_t part,
                     const EnsembleGradients<T>& gradients) const;
  void add_all_gradients(const Ensemble<T>& trees, const T* gradient,
                         const EnsembleGradients<T>& gradients, const Execution& execution) const;
  // x_gradient (n_rows, n_features), contiguous, is set.
  void input_gradient(const Ensemble<T>& trees, T* x_gradient, const Execution& execution) const;

  TreePart part_of(const Ensemble<T>& trees, index_t part) const;
  // Whether the last forward pass was of so many rows in trees of this shape.
  bool was_of(const Ensemble<T>& trees, index_t n_rows) const {
    return n_rows == n_rows_ && shape_of(trees) == shape_;
  }
  // Reached leaves over all samples and trees of the last forward pass.
  index_t n_reached_leaves() const { return n_reached_leaves_; }
  std::size_t bytes() const;

 private:
  static std::array<index_t, 4> shape_of(const Ensemble<T>& trees) {
    return {trees.n_trees, trees.n_splits, trees.n_features, trees.n_outputs};
  }
  TreePass<T>& pass(index_t tree, index_t block) { return passes_[tree * n_blocks_ + block]; }
  const TreePass<T>& pass(index_t tree, index_t block) const {
    return passes_[tree * n_blocks_ + block];
  }
  index_t first_row(index_t block) const { return block * rows_per_block_; }
  bool dense_next(const Ensemble<T>& trees, index_t tree) const;
  void add_up(const Ensemble<T>& trees, T* out);

  PassKind kind_;
  std::array<index_t, 4> shape_ = {};
  index_t n_rows_ = 0;
  index_t n_blocks_ = 0;
  index_t rows_per_block_ = kBlockRows;
  index_t n_reached_leaves_ = 0;
  std::vector<SampleBlock<T>> blocks_;
  std::vector<TreePass<T>> passes_;
  std::vector<double> reached_;
};

// Whether a dense pass is cheaper for a tree whose samples reach this many leaves on average
// (negative: unknown), or the only one for its routing.
template <class T>
bool dense_is_cheaper(const Ensemble<T>& trees, double reached_leaves);

}  // namespace fctree::soft
