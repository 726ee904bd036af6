// Errors of samples by leaf, for the scales of intervals: of one tree or of all trees of a forest.
#pragma once

#include "core/parallel.hpp"

namespace fctree::ensembles {

struct LeafErrors {
  const index_t* leaf;   // (n_samples, n_trees), numbered over all trees
  const double* weight;  // (n_samples,)
  const double* size;    // (n_samples, n_outputs)
  index_t n_samples;
  index_t n_trees;
  index_t n_outputs;
};

// leaf_sums (n_leaves, 1 + n_outputs) += the weights of the samples in a leaf, and their weighted
// errors.
void add_leaf_errors(const LeafErrors& errors, double* leaf_sums, const Execution& execution);

// out (n_samples, n_outputs): weighted mean error of each sample's leaves without a unit of weight of
// itself, averaged over the trees. `prior` (1 + n_outputs) is added to the sums of a leaf.
void mean_scales(const LeafErrors& errors, const double* leaf_sums, const double* prior,
                 double* out, const Execution& execution);

}  // namespace fctree::ensembles
