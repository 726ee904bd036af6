#include "ensembles/predict.hpp"

#include <algorithm>
#include <array>

#include "ensembles/shallow_tree.hpp"
#include "oblique/axis_walk.hpp"
#include "ridge/dense.hpp"

namespace fctree::ensembles {

namespace {

constexpr index_t kBlockRows = kShallowRows;  // few enough to stay in the first cache through all trees
constexpr index_t kRowsOneByOne = 12;
// The sizes from which packing trees and turning rows into columns pays off, and those that keep the columns small.
constexpr index_t kFewTrees = 4;
constexpr index_t kFewRows = 64;
constexpr index_t kFewRowsAnOutput = 16;
constexpr index_t kMostFeatures = 4096;
constexpr index_t kTreesAPart = 8;

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

// The score of a leaf's model, clipped to its bounds.
double bounded(const ObliqueTreesView& trees, index_t model, double score) {
  return std::min(std::max(score, trees.leaf_lower[model]), trees.leaf_upper[model]);
}

// Traversal of a tree by blocks of rows.
struct TreePlan {
  index_t tree = 0;
  ShallowTree top;                // if rows and trees are many
  AxisWalk walk;                  // instead, if there are more levels with all splits along axes
  std::vector<double> constants;  // (n_nodes, n_outputs): then the scores, if they are constants
};

void set_walk(const ObliqueTreesView& trees, TreePlan& plan) {
  const index_t tree = plan.tree, first_node = trees.node_offsets[tree];
  plan.walk = AxisWalk(routing_of(trees, tree));
  if (plan.walk.exists()) plan.top = ShallowTree();
  if (!plan.walk.exists() || !has_constant_leaves(trees, tree)) return;
  for (index_t node = first_node; node < trees.node_offsets[tree + 1]; ++node) {
    const bool is_leaf = trees.children_left[node] < 0;
    const index_t leaf = is_leaf ? trees.leaf_offsets[tree] + trees.leaf_index[node] : 0;
    for (index_t model = leaf * trees.n_outputs; model < (leaf + 1) * trees.n_outputs; ++model)
      plan.constants.push_back(is_leaf ? bounded(trees, model, trees.leaf_intercept[model]) : 0.0);
  }
}

std::vector<TreePlan> plan_trees(const ObliqueTreesView& trees, const TreeRange& range,
                                 index_t n_rows, const Execution& execution) {
  std::vector<TreePlan> plans(range.last - range.first);
  const bool packs = plans.size() >= kFewTrees && n_rows >= std::max(kFewRows, kFewRowsAnOutput * trees.n_outputs) &&
                     trees.n_features <= kMostFeatures;
  const auto plan_part = [&](index_t, index_t begin, index_t end) {
    for (index_t t = begin; t < end; ++t) {
      TreePlan& plan = plans[t];
      plan.tree = range.first + t;
      if (packs) plan.top = ShallowTree(trees, plan.tree);
      if (!plan.top.is_whole() && n_rows >= AxisWalk::kFewRows) set_walk(trees, plan);
    }
  };
  for_each_part(execution, static_cast<index_t>(plans.size()), kTreesAPart, plan_part);
  return plans;
}

void add_bounded(const ObliqueTreesView& trees, index_t slot, const double* score, double* out,
                 index_t stride) {
  for (index_t k = 0; k < trees.n_outputs; ++k)
    out[k * stride] += bounded(trees, slot * trees.n_outputs + k, score[k]);
}

// Rows, and in columns where the plans of some trees need them.
struct Block {
  const double* x;        // (size, n_features)
  const double* columns;  // (n_features, kBlockRows), or null
  index_t size;
};

// The scores of one tree for a block of rows, added to sums (n_outputs, kBlockRows).
void add_tree(const ObliqueTreesView& trees, const TreePlan& plan, const Block& block, double* scores,
              double* sums) {
  if (plan.top.is_whole()) return plan.top.add_scores(block.columns, block.size, sums);
  const index_t tree = plan.tree, n_outputs = trees.n_outputs;
  const Descents rows = {block.x, block.size, trees.n_features, nullptr};
  std::array<std::int64_t, kBlockRows> node = {};
  if (plan.walk.exists()) {
    plan.walk.route(block.x, block.size, node.data());
  } else {
    if (plan.top.exists()) plan.top.route(block.columns, block.size, node.data());
    dense_kernels().route(routing_of(trees, tree), rows, node.data());
  }
  if (!plan.constants.empty()) {
    for (index_t i = 0; i < block.size; ++i)
      for (index_t k = 0; k < n_outputs; ++k)
        sums[k * kBlockRows + i] += plan.constants[node[i] * n_outputs + k];
    return;
  }
  const index_t* leaf_index = trees.leaf_index + trees.node_offsets[tree];
  for (index_t i = 0; i < block.size; ++i) node[i] = trees.leaf_offsets[tree] + leaf_index[node[i]];
  dense_kernels().evaluate_leaves({trees.leaf_coef, trees.leaf_intercept, trees.n_features, n_outputs},
                                  node.data(), rows, scores);
  for (index_t i = 0; i < block.size; ++i)
    add_bounded(trees, node[i], scores + i * n_outputs, sums + i, kBlockRows);
}

// The scores of some trees for a block of rows, added in the trees' order.
void add_block(const ObliqueTreesView& trees, const std::vector<TreePlan>& plans, const double* x,
               index_t size, const ScoreSpan& out) {
  const index_t n_features = trees.n_features, n_outputs = trees.n_outputs;
  std::vector<double> scores(size * n_outputs), sums(n_outputs * kBlockRows), columns;
  const auto has_top = [](const TreePlan& plan) { return plan.top.exists(); };
  if (std::any_of(plans.begin(), plans.end(), has_top)) {
    columns.resize(n_features * kBlockRows);
    for (index_t i = 0; i < size; ++i)
      for (index_t j = 0; j < n_features; ++j) columns[j * kBlockRows + i] = x[i * n_features + j];
  }
  for (index_t i = 0; i < size; ++i)
    for (index_t k = 0; k < n_outputs; ++k)
      sums[k * kBlockRows + i] = out.scores[i * out.row_stride + k * out.output_stride];
  for (const TreePlan& plan : plans)
    add_tree(trees, plan, {x, columns.data(), size}, scores.data(), sums.data());
  for (index_t i = 0; i < size; ++i)
    for (index_t k = 0; k < n_outputs; ++k)
      out.scores[i * out.row_stride + k * out.output_stride] = sums[k * kBlockRows + i];
}

// The scores of one row: trees go side by side instead of rows, so that their memory accesses
// overlap.
void add_to_row(const ObliqueTreesView& trees, const TreeRange& range, const double* x,
                const ScoreSpan& out) {
  std::vector<double> scores(kBlockRows * trees.n_outputs);
  for (index_t first = range.first; first < range.last; first += kBlockRows) {
    const index_t n = std::min(kBlockRows, range.last - first);
    const index_t* roots = trees.node_offsets + first;
    const Descents same_row = {x, n, 0, roots};
    std::array<std::int64_t, kBlockRows> slot = {};
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

void add_trees(const ObliqueTreesView& trees, const TreeRange& range, const Table& x,
               index_t n_rows, const ScoreSpan& out, const Execution& execution) {
  if (n_rows <= kRowsOneByOne) {
    std::vector<double> row(x.is_view() ? 0 : trees.n_features);
    for (index_t i = 0; i < n_rows; ++i)
      add_to_row(trees, range, x.read(i, 1, row.data()),
                 {out.scores + i * out.row_stride, out.row_stride, out.output_stride});
    return;
  }
  const double work = static_cast<double>(n_rows * trees.n_features * 4 * (range.last - range.first));
  with_team(limit_threads(execution, work), [&](const Execution& team) {
    const std::vector<TreePlan> plans = plan_trees(trees, range, n_rows, team);
    for_each_part(team, n_rows, kBlockRows, [&](index_t, index_t begin, index_t end) {
      std::vector<double> rows(x.is_view() ? 0 : (end - begin) * trees.n_features);
      add_block(trees, plans, x.read(begin, end - begin, rows.data()), end - begin,
                {out.scores + begin * out.row_stride, out.row_stride, out.output_stride});
    });
  });
}

void apply_trees(const ObliqueTreesView& trees, index_t n_trees, const double* x, index_t n_rows,
                 const LeafNumbers& out, const Execution& execution) {
  const double work = static_cast<double>(n_rows * trees.n_features * 4 * n_trees);
  for_each_part(limit_threads(execution, work), n_rows, kBlockRows, [&](index_t, index_t begin, index_t end) {
    const Descents rows = {x + begin * trees.n_features, end - begin, trees.n_features, nullptr};
    for (index_t tree = 0; tree < n_trees; ++tree) {
      std::array<std::int64_t, kBlockRows> node = {};
      dense_kernels().route(routing_of(trees, tree), rows, node.data());
      const index_t* number = trees.leaf_index + trees.node_offsets[tree];
      for (index_t i = begin; i < end; ++i)
        out.leaf[i * n_trees + tree] =
            out.over_all ? trees.leaf_offsets[tree] + number[node[i - begin]] : node[i - begin];
    }
  });
}

}  // namespace fctree::ensembles
