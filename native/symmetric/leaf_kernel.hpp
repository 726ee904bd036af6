// The kernel of a set of symmetric trees (Ustimenko, Beliakov and Prokhorenkova, 2023):
//
//   K(x, x') = mean over trees of sum_j (n / max(n_j, 1)) 1[x in j] 1[x' in j],
//
// n_j of the n training samples in leaf j. A mean over random structures tends to the
// stationary kernel of gradient boosting.
#pragma once

#include "core/parallel.hpp"

namespace fctree::symmetric {

// Leaves by tree, (n_trees, n_rows) each, and the contribution of a shared leaf, (n_trees,
// n_leaves).
struct LeafKernelTask {
  const std::uint16_t* leaf_x;
  const std::uint16_t* leaf_y;
  const double* weight;
  index_t n_x;
  index_t n_y;
  index_t n_trees;
  index_t n_leaves;
};

// Adds the trees to out (n_x, n_y) in order. O(n_x n_y n_trees).
void add_leaf_kernel(const LeafKernelTask& task, double* out, const Execution& execution);

}  // namespace fctree::symmetric
