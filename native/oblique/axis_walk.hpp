// Traversal of a tree whose splits are all along axes: one feature of a row per level instead of
// all.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.hpp"
#include "ridge/dense.hpp"

namespace fctree::oblique {

using namespace ridge;

class AxisWalk {
 public:
  // Minimum number of rows for which inspecting the tree first pays off.
  static constexpr index_t kFewRows = 256;

  // O(nodes d); stops at the first split that is not along an axis, for which this traversal does
  // not apply.
  explicit AxisWalk(const RoutingArrays& tree);
  AxisWalk() = default;

  bool exists() const { return !nodes_.empty(); }
  // Like the kernel of this name (dense.hpp) for rows at the root, at[i] = 0: the same leaves.
  // O(1) per level and row.
  void route(const double* x, index_t n_rows, std::int64_t* at) const;

 private:
  // Right child second. A leaf points to itself, so that all rows take equally many steps.
  struct Node {
    double coef;
    double threshold;
    std::int32_t feature;
    std::int32_t child[2];
  };
  bool add(const RoutingArrays& tree, index_t node);

  std::vector<Node> nodes_;
  index_t n_features_ = 0;
  index_t depth_ = 0;
};

}  // namespace fctree::oblique
