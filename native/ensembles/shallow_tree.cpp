#include "ensembles/shallow_tree.hpp"

#include <algorithm>

namespace fctree::ensembles {

ShallowTree::ShallowTree(const ObliqueTreesView& trees, index_t tree) : n_nodes_(1) {
  const index_t first = trees.node_offsets[tree];
  const auto is_leaf = [&](index_t node) { return trees.children_left[first + node] < 0; };
  const auto all_are_leaves = [&] { return std::all_of(nodes_.begin(), nodes_.begin() + n_nodes_, is_leaf); };

  // Nodes from left to right, level by level; a leaf stands for its two children too.
  Coefs coef{};
  index_t split = 0;
  for (; depth_ < kShallowLevels && !all_are_leaves(); ++depth_) {
    const Eight<index_t> above = nodes_;
    for (index_t i = 0; i < n_nodes_; ++i, ++split) {
      const index_t node = above[i];
      nodes_[2 * i] = is_leaf(node) ? node : trees.children_left[first + node];
      nodes_[2 * i + 1] = is_leaf(node) ? node : trees.children_right[first + node];
      if (is_leaf(node)) continue;
      coef[split] = trees.coef + (first + node) * trees.n_features;
      threshold_[split] = trees.threshold[first + node];
    }
    n_nodes_ *= 2;
  }
  splits_ = side_by_side(coef, trees.n_features);
  if (all_are_leaves()) add_leaves(trees, tree);
}

void ShallowTree::add_leaves(const ObliqueTreesView& trees, index_t tree) {
  leaves_.resize(trees.n_outputs);
  for (index_t k = 0; k < trees.n_outputs; ++k) {
    Leaves& leaves = leaves_[k];
    Coefs coef{};
    for (index_t i = 0; i < n_nodes_; ++i) {
      const index_t leaf = trees.leaf_offsets[tree] + trees.leaf_index[trees.node_offsets[tree] + nodes_[i]];
      const index_t model = leaf * trees.n_outputs + k;
      coef[i] = trees.leaf_coef + model * trees.n_features;
      leaves.intercept[i] = trees.leaf_intercept[model];
      leaves.lower[i] = trees.leaf_lower[model];
      leaves.upper[i] = trees.leaf_upper[model];
    }
    leaves.models = side_by_side(coef, trees.n_features);
  }
}

ShallowTree::Models ShallowTree::side_by_side(const Coefs& coef, index_t n_features) {
  const index_t lanes = shallow_kernels().lanes;
  const index_t n_whole = n_features / lanes * lanes;  // dot() adds those beyond to the odd vectors
  Models models;
  models.features.resize(n_features);
  models.coef.resize(n_features * kShallowModels);
  index_t n_used = 0;
  const auto add = [&](index_t feature) {
    double* of_feature = models.coef.data() + n_used * kShallowModels;
    bool is_used = false;
    for (index_t m = 0; m < kShallowModels; ++m) {
      of_feature[m] = coef[m] == nullptr ? 0.0 : coef[m][feature];
      is_used |= of_feature[m] != 0.0;
    }
    models.features[n_used] = static_cast<std::int32_t>(feature);
    n_used += is_used;
  };
  std::int32_t* begin = models.begin.data();
  *begin++ = 0;
  for (index_t lane = 0; lane < lanes; ++lane)
    for (const index_t parity : {0, 1}) {
      for (index_t j = lane + parity * lanes; j < n_whole; j += 2 * lanes) add(j);
      if (parity == 1 && n_whole + lane < n_features) add(n_whole + lane);
      *begin++ = static_cast<std::int32_t>(n_used);
    }
  return models;
}

void ShallowTree::route(const double* x, index_t n, std::int64_t* node) const {
  shallow_kernels().route(splits(), x, n, node);
  for (index_t i = 0; i < n; ++i) node[i] = nodes_[node[i]];
}

void ShallowTree::add_scores(const double* x, index_t n, double* sums) const {
  std::array<std::int64_t, kShallowRows> leaf;
  shallow_kernels().route(splits(), x, n, leaf.data());
  for (const Leaves& of : leaves_) {
    shallow_kernels().add_leaves({of.models.view(), of.intercept.data(), of.lower.data(), of.upper.data()},
                                 {x, n, leaf.data()}, sums);
    sums += kShallowRows;
  }
}

}  // namespace fctree::ensembles
