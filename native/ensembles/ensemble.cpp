#include "ensembles/ensemble.hpp"

#include <cmath>

#include "oblique/standardized.hpp"

namespace fctree::ensembles {

namespace {

template <class T>
void append(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

void append_scaled(const std::vector<double>& from, double factor, std::vector<double>& to) {
  for (const double value : from)  // an infinite bound stays one, also of a step of 0
    to.push_back(std::isinf(value) ? value : factor * value);
}

}  // namespace

void ObliqueTreesArrays::truncate(index_t n) {
  if (n >= n_trees()) return;
  node_offsets.resize(n + 1);
  leaf_offsets.resize(n + 1);
  const index_t n_nodes = node_offsets.back(), n_leaves = leaf_offsets.back();
  for (std::vector<index_t>* of_node :
       {&children_left, &children_right, &split_kind, &n_node_samples, &leaf_index})
    of_node->resize(n_nodes);
  for (std::vector<double>* of_node : {&threshold, &impurity, &weighted_n_node_samples})
    of_node->resize(n_nodes);
  coef.resize(n_nodes * n_features);
  value.resize(n_nodes * n_outputs);
  leaf_coef.resize(n_leaves * n_outputs * n_features);
  for (std::vector<double>* of_leaf : {&leaf_intercept, &leaf_lower, &leaf_upper})
    of_leaf->resize(n_leaves * n_outputs);
  feature_gain.resize(n * n_features);
}

ObliqueTreesView view_of(const ObliqueTreesArrays& trees) {
  return {trees.node_offsets.data(),   trees.leaf_offsets.data(), trees.children_left.data(),
          trees.children_right.data(), trees.threshold.data(),    trees.coef.data(),
          trees.leaf_index.data(),     trees.leaf_coef.data(),    trees.leaf_intercept.data(),
          trees.leaf_lower.data(),     trees.leaf_upper.data(),   trees.n_features,
          trees.n_outputs};
}

void append_tree(const ObliqueTreeArrays& tree, const LeafBounds& bounds, const FeatureMap& map,
                 double factor, ObliqueTreesArrays& trees) {
  append(tree.children_left, trees.children_left);
  append(tree.children_right, trees.children_right);
  append(tree.split_kind, trees.split_kind);
  append_scaled(tree.value, factor, trees.value);
  append(tree.impurity, trees.impurity);
  append(tree.n_node_samples, trees.n_node_samples);
  append(tree.weighted_n_node_samples, trees.weighted_n_node_samples);
  append(tree.leaf_index, trees.leaf_index);
  append_splits(tree, map, trees.coef, trees.threshold);
  const std::vector<double> offset = append_linear(tree.leaf_coef, map, factor, trees.leaf_coef);
  for (std::size_t at = 0; at < tree.leaf_intercept.size(); ++at)
    trees.leaf_intercept.push_back(factor * tree.leaf_intercept[at] +
                                   (offset.empty() ? 0.0 : offset[at]));
  trees.leaf_coef.resize(trees.leaf_intercept.size() * trees.n_features, 0.0);
  append_scaled(bounds.lower, factor, trees.leaf_lower);
  append_scaled(bounds.upper, factor, trees.leaf_upper);
  const std::size_t gains = trees.feature_gain.size();
  trees.feature_gain.resize(gains + trees.n_features, 0.0);
  for (index_t j = 0; j < map.width(); ++j)
    trees.feature_gain[gains + map.columns[j]] = tree.feature_gain[j];
  trees.node_offsets.push_back(trees.node_offsets.back() + tree.n_nodes());
  trees.leaf_offsets.push_back(trees.leaf_offsets.back() + tree.n_leaves());
}

ObliqueTreesArrays tree_alone(const ObliqueTreeArrays& tree, const LeafBounds& bounds, const FeatureMap& map, double factor,
                              index_t n_features) {
  ObliqueTreesArrays alone;
  alone.n_features = n_features;
  alone.n_outputs = tree.n_outputs;
  append_tree(tree, bounds, map, factor, alone);
  return alone;
}

void shift_last_tree(const std::vector<double>& shifts, ObliqueTreesArrays& trees) {
  const auto shift = [&](index_t first, std::vector<double>& values) {
    for (std::size_t at = first * trees.n_outputs; at < values.size(); ++at)
      values[at] += shifts[at % trees.n_outputs];
  };
  const index_t last = trees.n_trees() - 1;
  shift(trees.node_offsets[last], trees.value);
  for (std::vector<double>* values : {&trees.leaf_intercept, &trees.leaf_lower, &trees.leaf_upper})
    shift(trees.leaf_offsets[last], *values);
}

}  // namespace fctree::ensembles
