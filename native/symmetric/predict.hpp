// Scores of a boosted model. Few rows go through the trees one by one; many are binned once,
// by the thresholds that the trees use, and then cost one comparison of bytes per level and one
// look-up per tree: O(d' log b + T depth) per row, d' features used. Both add the trees in order,
// so a row's score does not depend on the rows around it.
#pragma once

#include "core/parallel.hpp"
#include "symmetric/feature_matrix.hpp"
#include "symmetric/model.hpp"

namespace fctree::symmetric {

// The trees are added to scores (n_samples, n_outputs).
void add_trees(const SymmetricTreesView& trees, const FeatureMatrix& x, double* scores,
               const Execution& execution);

// scores <- start (n_outputs,) and the trees; returns whether all of them are finite.
bool find_scores(const SymmetricTreesView& trees, const FeatureMatrix& x, const double* start,
                 double* scores, const Execution& execution);

// leaf (n_samples, n_trees) int32: each row's leaf in each tree.
void apply_trees(const SymmetricTreesView& trees, const FeatureMatrix& x, std::int32_t* leaf,
                 const Execution& execution);

}  // namespace fctree::symmetric
