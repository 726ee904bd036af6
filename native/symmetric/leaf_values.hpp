// Leaf values of a grown tree: a Newton step, a quantile, or Friedman's clipped mean, of the
// sampled rows in each leaf; 0 in an empty leaf.
#pragma once

#include <functional>
#include <vector>

#include "symmetric/derivative_scale.hpp"
#include "symmetric/tiles.hpp"

namespace fctree::symmetric {

// Rows by leaf: leaf[i] < n_leaves, once find(begin, end) was called for rows that i is among; rows with
// in_bag[i] 0 are left out (null: none).
struct LeafAssignment {
  std::function<void(index_t begin, index_t end)> find;
  const std::uint16_t* leaf;
  const std::uint8_t* in_bag;
  index_t n_leaves;
};

// values (n_leaves, n_outputs) in the outputs' units, and the weight behind each (sum of w h or of w): the step
// before the learning rate.
struct LeafValues {
  std::vector<double> value;
  std::vector<double> weight;
};

// A round's derivatives with the scale of their sums.
struct ScaledDerivatives {
  const ScoredSamples& samples;
  const Derivatives& values;
  const DerivativeScale& scale;
};

// Sums of Newton steps do not depend on the order of the rows, others go row by row: the same for
// any number of threads. O(n K), O(n K log n) for quantiles of weighted samples.
LeafValues compute_leaf_values(const Loss& loss, const ScaledDerivatives& derivatives,
                               const LeafAssignment& leaves, double l2_leaf_reg,
                               const Tiles& tiles, const Execution& execution);

}  // namespace fctree::symmetric
