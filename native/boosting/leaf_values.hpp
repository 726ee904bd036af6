// What the leaves of a grown tree answer: a Newton step, a quantile, or Friedman's clipped
// mean, of the sampled rows in each; 0 in an empty leaf.
#pragma once

#include <vector>

#include "boosting/params.hpp"
#include "boosting/tiles.hpp"
#include "core/loss.hpp"

namespace fctree {

// Rows by leaf: leaf[i] < n_leaves; in_bag[i] 0 leaves a row out (null: none).
struct LeafAssignment {
  const std::uint16_t* leaf;
  const std::uint8_t* in_bag;
  index_t n_leaves;
};

// values (n_leaves, n_outputs), and the weight behind each (sum of w h or of w): the step
// before the learning rate.
struct LeafValues {
  std::vector<double> value;
  std::vector<double> weight;
};

// Sums go tile by tile, in order: the same for any number of threads. O(n K), O(n K log n)
// for quantiles of weighted samples.
LeafValues compute_leaf_values(const Loss& loss, const ScoredSamples& samples,
                               const Derivatives& derivatives, const LeafAssignment& leaves,
                               double l2_leaf_reg, const Tiles& tiles,
                               const Execution& execution);

}  // namespace fctree
