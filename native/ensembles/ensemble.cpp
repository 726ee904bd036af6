#include "ensembles/ensemble.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "oblique/axis_walk.hpp"
#include "ridge/dense.hpp"

namespace fctree::ensembles {

namespace {

constexpr index_t kBlockRows = 64;  // few enough to stay in the first cache through all trees

template <class T>
void append(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

void append_scaled(const std::vector<double>& from, double factor, std::vector<double>& to) {
  for (const double value : from)  // an infinite bound stays one, also of a step of 0
    to.push_back(std::isinf(value) ? value : factor * value);
}

RoutingArrays routing_of(const ObliqueTreesView& trees, index_t tree) {
  const index_t node = trees.node_offsets[tree];
  return {trees.children_left + node, trees.children_right + node, trees.threshold + node,
          trees.coef + node * trees.n_features, trees.n_features};
}

bool has_constant_leaves(const ObliqueTreesView& trees, index_t tree) {
  const index_t size = trees.n_outputs * trees.n_features;
  return std::all_of(trees.leaf_coef + trees.leaf_offsets[tree] * size,
                     trees.leaf_coef + trees.leaf_offsets[tree + 1] * size,
                     [](double c) { return c == 0.0; });
}

// Traversal of a tree by blocks of rows.
struct TreePlan {
  index_t tree = 0;
  AxisWalk walk;  // if all splits are along axes, and the rows are many
  bool is_constant = false;
};

std::vector<TreePlan> plan_trees(const ObliqueTreesView& trees, const TreeRange& range,
                                 index_t n_rows) {
  std::vector<TreePlan> plans(range.last - range.first);
  for (index_t tree = range.first; tree < range.last; ++tree) {
    TreePlan& plan = plans[tree - range.first];
    plan.tree = tree;
    if (n_rows < AxisWalk::kFewRows) continue;
    plan.walk = AxisWalk(routing_of(trees, tree));
    plan.is_constant = plan.walk.exists() && has_constant_leaves(trees, tree);
  }
  return plans;
}

void add_bounded(const ObliqueTreesView& trees, index_t slot, const double* score, double* out,
                 index_t stride) {
  for (index_t k = 0; k < trees.n_outputs; ++k) {
    const index_t at = slot * trees.n_outputs + k;
    out[k * stride] += std::min(std::max(score[k], trees.leaf_lower[at]), trees.leaf_upper[at]);
  }
}

// The scores of one tree for a block of rows, added.
void add_tree(const ObliqueTreesView& trees, const TreePlan& plan, const double* x, index_t size,
              const ScoreSpan& out, double* scores) {
  const index_t tree = plan.tree;
  std::array<std::int64_t, kBlockRows> slot;
  const index_t n_outputs = trees.n_outputs;
  const index_t* leaf_index = trees.leaf_index + trees.node_offsets[tree];
  if (plan.walk.exists())
    plan.walk.route(x, size, slot.data());
  else
    dense_kernels().route(routing_of(trees, tree), {x, size, trees.n_features, nullptr},
                          slot.data());
  for (index_t i = 0; i < size; ++i) slot[i] = trees.leaf_offsets[tree] + leaf_index[slot[i]];
  if (plan.is_constant)
    for (index_t i = 0; i < size; ++i)
      std::copy_n(trees.leaf_intercept + slot[i] * n_outputs, n_outputs, scores + i * n_outputs);
  else
    dense_kernels().evaluate_leaves(
        {trees.leaf_coef, trees.leaf_intercept, trees.n_features, n_outputs}, slot.data(),
        {x, size, trees.n_features, nullptr}, scores);
  for (index_t i = 0; i < size; ++i)
    add_bounded(trees, slot[i], scores + i * n_outputs, out.scores + i * out.row_stride,
                out.output_stride);
}

// The scores of one row: trees go side by side instead of rows, so that their memory accesses
// overlap.
void add_to_row(const ObliqueTreesView& trees, const TreeRange& range, const double* x,
                const ScoreSpan& out) {
  std::array<std::int64_t, kBlockRows> slot;
  std::vector<double> scores(kBlockRows * trees.n_outputs);
  for (index_t first = range.first; first < range.last; first += kBlockRows) {
    const index_t n = std::min(kBlockRows, range.last - first);
    const index_t* roots = trees.node_offsets + first;
    const Descents same_row = {x, n, 0, roots};
    dense_kernels().route(routing_of(trees, 0), same_row, slot.data());
    for (index_t i = 0; i < n; ++i)
      slot[i] = trees.leaf_offsets[first + i] + trees.leaf_index[roots[i] + slot[i]];
    dense_kernels().evaluate_leaves(
        {trees.leaf_coef, trees.leaf_intercept, trees.n_features, trees.n_outputs}, slot.data(),
        same_row, scores.data());
    for (index_t i = 0; i < n; ++i)
      add_bounded(trees, slot[i], scores.data() + i * trees.n_outputs, out.scores,
                  out.output_stride);
  }
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
  const std::vector<double> split_offset = append_linear(tree.coef, map, 1.0, trees.coef);
  for (index_t node = 0; node < tree.n_nodes(); ++node)
    trees.threshold.push_back(tree.threshold[node] - split_offset[node]);
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

void add_trees(const ObliqueTreesView& trees, const TreeRange& range, const double* x,
               index_t n_rows, const ScoreSpan& out, const Execution& execution) {
  if (n_rows == 1) return add_to_row(trees, range, x, out);
  const std::vector<TreePlan> plans = plan_trees(trees, range, n_rows);
  const double work = static_cast<double>(n_rows * trees.n_features * 4 * (range.last - range.first));
  parallel_for(limit_threads(execution, work), (n_rows + kBlockRows - 1) / kBlockRows,
               [&](index_t block) {
                 const index_t begin = block * kBlockRows;
                 const index_t size = std::min(kBlockRows, n_rows - begin);
                 std::vector<double> scores(size * trees.n_outputs);
                 const ScoreSpan block_out = {out.scores + begin * out.row_stride, out.row_stride,
                                              out.output_stride};
                 for (const TreePlan& plan : plans)
                   add_tree(trees, plan, x + begin * trees.n_features, size, block_out,
                            scores.data());
               });
}

void apply_trees(const ObliqueTreesView& trees, index_t n_trees, const double* x, index_t n_rows,
                 index_t* leaf, const Execution& execution) {
  const double work = static_cast<double>(n_rows * trees.n_features * 4 * n_trees);
  parallel_for(limit_threads(execution, work), (n_rows + kBlockRows - 1) / kBlockRows,
               [&](index_t block) {
                 std::array<std::int64_t, kBlockRows> node;
                 const index_t begin = block * kBlockRows;
                 const index_t size = std::min(kBlockRows, n_rows - begin);
                 for (index_t tree = 0; tree < n_trees; ++tree) {
                   dense_kernels().route(
                       routing_of(trees, tree),
                       {x + begin * trees.n_features, size, trees.n_features, nullptr},
                       node.data());
                   for (index_t i = 0; i < size; ++i) leaf[(begin + i) * n_trees + tree] = node[i];
                 }
               });
}

}  // namespace fctree::ensembles
