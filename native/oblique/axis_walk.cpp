#include "oblique/axis_walk.hpp"

#include <algorithm>

namespace fctree::oblique {

AxisWalk::AxisWalk(const RoutingArrays& tree) : n_features_(tree.n_features) {
  std::vector<std::int32_t> level{0}, next;
  for (; !level.empty(); ++depth_) {
    next.clear();
    for (const std::int32_t node : level) {
      if (!add(tree, node)) {
        nodes_.clear();
        return;
      }
      if (tree.children_left[node] < 0) continue;
      next.push_back(nodes_[node].child[0]);
      next.push_back(nodes_[node].child[1]);
    }
    level.swap(next);
  }
  --depth_;
}

// False where the split is not along an axis.
bool AxisWalk::add(const RoutingArrays& tree, index_t node) {
  const auto self = static_cast<std::int32_t>(node);
  Node added = {0.0, 0.0, 0, {self, self}};
  if (tree.children_left[node] >= 0) {
    const double* coef = tree.coef + node * n_features_;
    const auto is_used = [](double c) { return c != 0.0; };
    const double* used = std::find_if(coef, coef + n_features_, is_used);
    if (used == coef + n_features_) return false;
    if (std::any_of(used + 1, coef + n_features_, is_used)) return false;
    added = {*used,
             tree.threshold[node],
             static_cast<std::int32_t>(used - coef),
             {static_cast<std::int32_t>(tree.children_left[node]),
              static_cast<std::int32_t>(tree.children_right[node])}};
  }
  nodes_.resize(std::max<std::size_t>(nodes_.size(), node + 1));
  nodes_[node] = added;
  return true;
}

// Rows go down together, as in the kernel.
void AxisWalk::route(const double* x, index_t n_rows, std::int64_t* at) const {
  for (index_t level = 0; level < depth_; ++level)
    for (index_t i = 0; i < n_rows; ++i) {
      const Node& node = nodes_[at[i]];
      const double score = node.coef * x[i * n_features_ + node.feature];
      at[i] = node.child[score <= node.threshold ? 0 : 1];
    }
}

}  // namespace fctree::oblique
