// Going down a tree whose splits are all along axes: one number of a row a level, not all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.hpp"
#include "ridge/dense.hpp"

namespace fctree::oblique {

using namespace ridge;

class AxisWalk {
 public:
  // Rows from which on it pays to look at a tree before they go down it.
  static constexpr index_t kFewRows = 256;

  // O(nodes d), less where a split is not along an axis: there is nothing to walk then.
  explicit AxisWalk(const RoutingArrays& tree);
  AxisWalk() = default;

  bool exists() const { return !nodes_.empty(); }
  // As the kernel of this name (dense.hpp), to the same leaves. O(1) a level and row.
  void route(const double* x, index_t n_rows, std::int64_t* leaf) const;

 private:
  // Right child second. A leaf leads to itself, so that all rows take as many steps.
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
