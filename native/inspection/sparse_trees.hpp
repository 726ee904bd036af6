// Oblique trees with their coefficients as lists of those that are not zero, by player.
#pragma once

#include <vector>

#include "ensembles/ensemble.hpp"

namespace fctree::inspection {

using namespace ensembles;

struct Term {
  std::int32_t player;
  std::int32_t column;
  double coef;
};

struct Terms {
  const Term* begin_;
  const Term* end_;
  const Term* begin() const { return begin_; }
  const Term* end() const { return end_; }
};

// Rows of terms, those of a player next to each other.
class TermRows {
 public:
  void append(const double* coef, index_t n_columns, const index_t* player);
  void append_empty() { first_.push_back(first_.back()); }
  Terms operator[](index_t row) const {
    return {terms_.data() + first_[row], terms_.data() + first_[row + 1]};
  }

 private:
  std::vector<index_t> first_{0};
  std::vector<Term> terms_;
};

struct SparseTrees {
  // player (n_features): the player that each feature belongs to.
  SparseTrees(const ObliqueTreesView& trees, index_t n_trees, const index_t* player);

  ObliqueTreesView view;
  TermRows splits;  // (n_nodes), none at leaves
  TermRows leaves;  // (n_leaves * n_outputs)
};

// A node of a tree, as an index into arrays of all nodes.
struct TreeNodes {
  TreeNodes(const SparseTrees& trees, index_t tree)
      : view(trees.view), root(view.node_offsets[tree]), first_leaf(view.leaf_offsets[tree]) {}

  bool is_leaf(index_t node) const { return view.children_left[node] < 0; }
  index_t child(index_t node, bool left) const {
    return root + (left ? view.children_left : view.children_right)[node];
  }
  // The first row of the leaf's outputs.
  index_t leaf_row(index_t node) const {
    return (first_leaf + view.leaf_index[node]) * view.n_outputs;
  }

  const ObliqueTreesView& view;
  const index_t root;
  const index_t first_leaf;
};

}  // namespace fctree::inspection
