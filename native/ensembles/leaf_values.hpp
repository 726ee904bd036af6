// What becomes of a tree's leaves before they join an ensemble: bounds on their scores, and for
// losses whose leaves answer with an order statistic a constant that is added to their models.
#pragma once

#include <vector>

#include "core/loss/loss.hpp"
#include "core/collective.hpp"
#include "ensembles/ensemble.hpp"
#include "oblique/tree.hpp"

namespace fctree::ensembles {

// A linear model is sure of itself where it has seen nothing. The scores of the samples that a
// leaf was fitted to (weight above 0; all without weights) are the range that it may answer in,
// `extrapolation` times wider on both sides. x (n_samples, n_features of the tree);
// leaf (n_samples): node numbers. largest_step bounds all scores in absolute value;
// `all` as in core/collective.hpp.
struct BoundRules {
  double extrapolation;
  double largest_step;
};
LeafBounds bound_leaves(const ObliqueTreeArrays& tree, const double* x, const double* weight,
                        const std::vector<index_t>& leaf, const BoundRules& rules,
                        const Collective* all = nullptr);

// No tree moves a log-odds, or a logarithm of a mean, further than this before the learning
// rate: a Newton step holds near where it was computed.
double largest_step(const Loss& loss);

// Draws each leaf's mean score to 0, as if so much more weight of targets 0 were in the leaf.
void shrink_leaves(double l2_leaf_reg, ObliqueTreeArrays& tree);

// Adds to each leaf's constants the quantile, or Friedman's clipped mean, of what its models
// leave of the residuals y - F of the rows that have a weight in `fit_weight`.
void revise_constants(const Loss& loss, const ScoredSamples& samples, const double* x,
                      const double* fit_weight, const std::vector<index_t>& leaf,
                      ObliqueTreeArrays& tree);

}  // namespace fctree::ensembles
