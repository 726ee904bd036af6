// The best cut along one direction when each side predicts with its own ridge model
// (split_criterion "ridge").
//
// Samples are ordered by score, cut at quantiles, and the products of the samples between
// two cuts are summed in that order: each prefix is one side of a cut, and what it leaves
// of the node's sums is the other. O(n d^2 / 2) for the sums and O(d^3) a cut.
#pragma once

#include <vector>

#include "oblique/side_loss.hpp"
#include "oblique/threshold.hpp"

namespace fctree {

struct ModelCutRules {
  CutRules cut;
  index_t max_thresholds;
  double node_loss;  // of the node's own model: a cut has to lower it
};

// `products` are those of the whole node about models.origin. The cut's decrease is that
// of the loss.
Cut best_model_cut(const TrainingData& data, const NodeRows& node, const ChildModels& models,
                   const RowMatrix& products, const double* scores, const ModelCutRules& rules);

// Sizes of the left side at up to max_thresholds quantiles of the weight, each moved to the
// nearest place between two distinct scores; ascending. `order` is that of argsort.
std::vector<index_t> quantile_cuts(const TrainingData& data, const NodeRows& node,
                                   const double* scores, const std::uint64_t* order,
                                   const ModelCutRules& rules);

}  // namespace fctree
