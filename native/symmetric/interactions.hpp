// Which columns a tree may combine. A tree's leaves all share its splits, so what one path may hold
// the tree may hold.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace fctree::symmetric {

// None where column is null.
struct InteractionRules {
  const index_t* column;     // (n_features,) the table's column of each feature
  const std::uint8_t* sets;  // (n_sets, n_columns) columns that may be combined
  index_t n_sets;            // 0: all may
  index_t n_columns;
  index_t max_columns;       // of a tree; 0 for no limit
};

class InteractionLimits {
 public:
  explicit InteractionLimits(const InteractionRules& rules) : rules_(rules) {}

  // For the root of a tree: clears what `allowed` (n_features,) has beyond the sets.
  void restart(std::vector<std::uint8_t>& allowed);
  // For the levels below a split of `feature`: clears what may not join it. O(n_sets n_columns).
  void descend(index_t feature, std::vector<std::uint8_t>& allowed);

 private:
  void keep_members(std::vector<std::uint8_t>& allowed) const;

  InteractionRules rules_;
  std::vector<const std::uint8_t*> open_;  // sets that hold all columns of the tree
  std::vector<index_t> used_;              // columns of the tree
};

}  // namespace fctree::symmetric
