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

// The choice among cuts whose left products are known.
class ModelCutChoice {
 public:
  // `products` as for best_model_cut.
  ModelCutChoice(const ChildModels& models, const RowMatrix& products, double node_loss)
      : models_(models), products_(products), node_loss_(node_loss),
        scratch_(models.n_features) {}

  // Takes a cut in; whether it is the best so far. Two models: O(d^3).
  bool consider(const RowMatrix& left, index_t n_left);
  // The best cut but for its threshold.
  Cut best;

 private:
  const ChildModels& models_;
  const RowMatrix& products_;
  double node_loss_;
  SideScratch scratch_;
  RowMatrix right_;
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

// The threshold that leaves so many samples on the left.
double cut_between(const double* scores, const std::uint64_t* order, index_t n_left);

}  // namespace fctree
