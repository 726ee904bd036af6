#include "ensembles/shallow_tree.hpp"

#include <algorithm>
#include <array>

namespace fctree::ensembles {

ShallowTree::ShallowTree(const ObliqueTreesView& trees, index_t tree) : nodes_{0} {
  const index_t first = trees.node_offsets[tree];
  const auto is_leaf = [&](index_t node) { return trees.children_left[first + node] < 0; };
  const auto all_are_leaves = [&] { return std::all_of(nodes_.begin(), nodes_.end(), is_leaf); };

  // Nodes from left to right, level by level; a leaf stands for its two children too.
  Eight coef;
  for (; depth_ < kShallowLevels && !all_are_leaves(); ++depth_) {
    std::vector<index_t> next;
    for (const index_t node : nodes_) {
      next.push_back(is_leaf(node) ? node : trees.children_left[first + node]);
      next.push_back(is_leaf(node) ? node : trees.children_right[first + node]);
      coef.push_back(is_leaf(node) ? nullptr : trees.coef + (first + node) * trees.n_features);
      threshold_.push_back(is_leaf(node) ? 0.0 : trees.threshold[first + node]);
    }
    nodes_.swap(next);
  }
  threshold_.resize(kShallowModels, 0.0);
  splits_ = side_by_side(coef, trees.n_features);
  if (all_are_leaves()) add_leaves(trees, tree);
}

void ShallowTree::add_leaves(const ObliqueTreesView& trees, index_t tree) {
  for (index_t k = 0; k < trees.n_outputs; ++k) {
    Leaves leaves;
    Eight coef;
    for (const index_t node : nodes_) {
      const index_t leaf = trees.leaf_offsets[tree] + trees.leaf_index[trees.node_offsets[tree] + node];
      const index_t model = leaf * trees.n_outputs + k;
      coef.push_back(trees.leaf_coef + model * trees.n_features);
      leaves.intercept.push_back(trees.leaf_intercept[model]);
      leaves.lower.push_back(trees.leaf_lower[model]);
      leaves.upper.push_back(trees.leaf_upper[model]);
    }
    for (std::vector<double>* values : {&leaves.intercept, &leaves.lower, &leaves.upper})
      values->resize(kShallowModels, 0.0);
    leaves.models = side_by_side(coef, trees.n_features);
    leaves_.push_back(std::move(leaves));
  }
}

ShallowTree::Models ShallowTree::side_by_side(const Eight& coef, index_t n_features) {
  const index_t lanes = shallow_kernels().lanes;
  const index_t n_whole = n_features / lanes * lanes;  // dot() adds those beyond to the odd vectors
  Models models;
  models.features.reserve(n_features);
  models.coef.reserve(n_features * kShallowModels);
  const auto add = [&](index_t feature) {
    std::array<double, kShallowModels> of_feature = {};
    bool is_used = false;
    for (std::size_t m = 0; m < coef.size(); ++m) {
      of_feature[m] = coef[m] == nullptr ? 0.0 : coef[m][feature];
      is_used |= of_feature[m] != 0.0;
    }
    if (!is_used) return;
    models.features.push_back(static_cast<std::int32_t>(feature));
    models.coef.insert(models.coef.end(), of_feature.begin(), of_feature.end());
  };
  const auto end_group = [&] { models.begin.push_back(static_cast<std::int32_t>(models.features.size())); };
  end_group();
  for (index_t lane = 0; lane < lanes; ++lane)
    for (const index_t parity : {0, 1}) {
      for (index_t j = lane + parity * lanes; j < n_whole; j += 2 * lanes) add(j);
      if (parity == 1 && n_whole + lane < n_features) add(n_whole + lane);
      end_group();
    }
  return models;
}

void ShallowTree::route(const double* x, std::int64_t* node) const {
  shallow_kernels().route(splits(), x, node);
  for (index_t i = 0; i < kShallowRows; ++i) node[i] = nodes_[node[i]];
}

void ShallowTree::add_scores(const double* x, double* sums) const {
  std::array<std::int64_t, kShallowRows> leaf;
  shallow_kernels().route(splits(), x, leaf.data());
  for (const Leaves& of : leaves_) {
    shallow_kernels().add_leaves({of.models.view(), of.intercept.data(), of.lower.data(), of.upper.data()}, x,
                                 leaf.data(), sums);
    sums += kShallowRows;
  }
}

}  // namespace fctree::ensembles
