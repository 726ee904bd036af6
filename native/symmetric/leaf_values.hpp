// Leaf values of a grown tree: a Newton step, a quantile, or Friedman's clipped mean, of the
// sampled rows in each leaf; 0 in an empty leaf.
#pragma once

#include <vector>

#include "core/exact_sum.hpp"
#include "core/loss/loss.hpp"
#include "symmetric/params.hpp"
#include "symmetric/tiles.hpp"

namespace fctree::symmetric {

// Rows by leaf: leaf[i] < n_leaves; rows with in_bag[i] 0 are left out (null: none).
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

// Sums of w g and w h over the sampled rows of each leaf as fixed-point words, which merge by
// addition for any partition of the rows: [leaf][output][g, h][high, low].
using LeafSums = std::vector<std::int64_t>;
constexpr index_t kLeafSumWords = 4;

// The fixed-point numbers of w g and w h, one for each output.
struct LeafSumScales {
  std::vector<FixedPoint> gradient;
  std::vector<FixedPoint> hessian;
};

// The largest exponent (ExponentCounts) of w v over rows begin .. end; v null for 1. Rows out of
// the bag count too.
int largest_exponent(const double* value, const double* weight, index_t begin, index_t end);

LeafSums sum_leaves(const ScoredSamples& samples, const Derivatives& derivatives,
                    const LeafAssignment& leaves, const LeafSumScales& scales,
                    const Tiles& tiles, const Execution& execution);

// The Newton steps from these sums.
LeafValues newton_leaf_values(const Loss& loss, const LeafSums& sums, const LeafSumScales& scales,
                              double l2_leaf_reg);

// Sums of Newton steps do not depend on the order of the rows, others go row by row: the same for
// any number of threads. O(n K), O(n K log n) for quantiles of weighted samples.
LeafValues compute_leaf_values(const Loss& loss, const ScoredSamples& samples,
                               const Derivatives& derivatives, const LeafAssignment& leaves,
                               double l2_leaf_reg, const Tiles& tiles,
                               const Execution& execution);

}  // namespace fctree::symmetric
