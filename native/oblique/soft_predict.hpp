// Prediction with an oblique tree whose boundaries are soft: a sample goes to both sides of a
// split, to the left with the share 1 / (1 + exp((coef . x - threshold) / width)).
#pragma once

#include "oblique/predict.hpp"

namespace fctree::oblique {

struct SoftTree {
  RoutingArrays arrays;
  const double* width;  // (n_nodes,), positive at internal nodes
  std::int64_t n_nodes;
};

// out (n_rows, n_outputs): the leaf models' mean, each leaf weighted by the share of the sample
// that reaches it. O(n_nodes d) per row.
void predict_soft_tree(const SoftTree& tree, const LeafModels& leaves, const double* x,
                       index_t n_rows, double* out, const Execution& execution);

}  // namespace fctree::oblique
