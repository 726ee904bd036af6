#include "inspection/sparse_trees.hpp"

#include <algorithm>

namespace fctree::inspection {

void TermRows::append(const double* coef, index_t n_columns, const index_t* player) {
  const std::size_t start = terms_.size();
  for (index_t j = 0; j < n_columns; ++j)
    if (coef[j] != 0.0)
      terms_.push_back({static_cast<std::int32_t>(player[j]), static_cast<std::int32_t>(j), coef[j]});
  std::stable_sort(terms_.begin() + start, terms_.end(),
                   [](const Term& a, const Term& b) { return a.player < b.player; });
  first_.push_back(terms_.size());
}

SparseTrees::SparseTrees(const ObliqueTreesView& trees, index_t n_trees, const index_t* player)
    : view(trees) {
  const index_t d = trees.n_features;
  for (index_t node = 0; node < trees.node_offsets[n_trees]; ++node)
    if (trees.children_left[node] < 0)
      splits.append_empty();
    else
      splits.append(trees.coef + node * d, d, player);
  for (index_t row = 0; row < trees.leaf_offsets[n_trees] * trees.n_outputs; ++row)
    leaves.append(trees.leaf_coef + row * d, d, player);
}

}  // namespace fctree::inspection
