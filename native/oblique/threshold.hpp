// The best threshold along one direction (FC-ODT, step 2): the cut of the node's sorted
// scores that lowers the mean squared error most when each side predicts a constant.
// With class indicators as outputs that is the Gini decrease.
#pragma once

#include <vector>

#include "core/types.hpp"
#include "oblique/moments.hpp"

namespace fctree {

struct Cut {
  bool found = false;
  double threshold = 0.0;  // left is score <= threshold
  double decrease = 0.0;   // of the sum over outputs of the weighted variance
  index_t n_left = 0;
};

// Whether a candidate beats the best of those before it. Candidates that are equal in
// exact arithmetic differ by rounding: the first of them has to win all the same, or else
// duplicating a sample would not be the same as weighting it.
inline bool is_better(double decrease, double best) { return decrease > best * (1.0 + 1e-10); }

// Scratch for one node and direction: two arrays of the node's size.
struct SortBuffer {
  std::uint64_t* items;
  std::uint64_t* spare;
};

// Positions 0 .. n - 1 by ascending score, equal scores by position: the low 32 bits of
// the items of the returned array (one of the two of the buffer). O(n) where scores are
// spread, O(n log n) at worst.
const std::uint64_t* sort_scores(const double* scores, index_t n, SortBuffer buffer);

struct CutRules {
  index_t min_samples_leaf;
  double score_noise;  // scores closer than this are equal
};

// The best cut of a node; `mean` (K) and `weight` are its own. O(n K) and the sort.
Cut best_cut(const TrainingData& data, const NodeRows& node, const Moments& moments,
             const Vector& mean, const double* scores, SortBuffer buffer, const CutRules& rules);

}  // namespace fctree
