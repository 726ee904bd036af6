// Adjustments of a tree's leaves before it is added to an ensemble: bounds on their scores, and
// for losses with order-statistic leaves a constant added to their models.
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "core/loss/loss.hpp"
#include "core/parallel.hpp"
#include "ensembles/ensemble.hpp"
#include "oblique/tree.hpp"

namespace fctree::ensembles {

// Linear models extrapolate without limit. Predictions are clipped to the range of scores on the
// leaf's training samples (weight above 0; all without weights), widened by `extrapolation` times
// its length on both sides. The data have the tree's features;
// leaf (n_samples): node numbers. largest_step bounds all scores in absolute value.
struct BoundRules {
  double extrapolation;
  double largest_step;
};
LeafBounds bound_leaves(const ObliqueTreeArrays& tree, const TrainingData& data,
                        const Buffer<index_t>& leaf, const BoundRules& rules,
                        const Execution& execution);

// Shrinks each leaf's mean score to 0, as if the leaf had this much additional weight of targets 0.
void shrink_leaves(double l2_leaf_reg, ObliqueTreeArrays& tree);

// The curvatures of a loss's scores on the samples that a tree was grown on: weight (n_samples), the
// largest of each sample's scores times the sample's weight, 0 where it was left out; hessian
// (n_outputs, n_samples).
struct StepCurvatures {
  const ScoredSamples& samples;
  const double* weight;
  const double* hessian;
};
// A tree has one weight per sample, so scores of less curvature than the largest one have moved less far
// than Newton's step. Multiplies each leaf's model of a score by the leaf's sum of these weights over the sum of
// the score's own, both with l2_leaf_reg, at most by 2: or by more where that holds with 20 pseudo-samples for each coefficient.
void lengthen_steps(const StepCurvatures& curvatures, double l2_leaf_reg,
                    const Buffer<index_t>& leaf, const Execution& execution,
                    ObliqueTreeArrays& tree);

// Multiplies what a tree predicts of each output by its unit (n_outputs).
void scale_outputs(const double* unit, ObliqueTreeArrays& tree, LeafBounds& bounds);

// The samples that a tree was fitted to.
struct FittedRows {
  const ScoredSamples& samples;
  const TrainingData& data;
  const Buffer<index_t>& leaf;  // the node that each row reaches
  const std::vector<double>& farthest;  // (n_outputs,), that a constant may move
};

// Adds to each leaf's constants the quantile, or Friedman's clipped mean, of its models' residuals
// y - F - f over the rows of positive weight, then shrinks each leaf's mean as above. For losses whose
// leaf rule is not Newton's step.
void revise_constants(const Loss& loss, const FittedRows& fitted, double l2_leaf_reg,
                      const Execution& execution, ObliqueTreeArrays& tree);

// Subtracts what the tree predicts of rows of positive weight from these targets, (n_samples, n_outputs).
void subtract_scores(const ObliqueTreeArrays& tree, const TrainingData& data, const Buffer<index_t>& leaf,
                     const Execution& execution, double* target);

// The tree's `value` of weighted data: their mean targets in each node.
void find_means(const TrainingData& data, const Buffer<index_t>& leaf, const Execution& execution,
                ObliqueTreeArrays& tree);

}  // namespace fctree::ensembles
