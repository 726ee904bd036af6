// The best cut along one direction when each side predicts with its own ridge model
// (split_criterion "ridge").
//
// Samples are ordered by score, cut at quantiles, and the products of the samples between
// two cuts are summed in that order: each prefix is one side of a cut, and the rest of the node's
// sums is the other. O(n d^2 / 2) for the sums and O(d^3) per cut.
#pragma once

#include <array>
#include <vector>

#include "oblique/split_search/threshold.hpp"
#include "ridge/side_losses.hpp"

namespace fctree::oblique {

using namespace ridge;

struct ModelCutRules {
  CutRules cut;
  index_t max_thresholds;
  double node_loss;  // of the node's own model: a cut has to lower it
};

// Chooses among cuts whose left products are known. Cuts are evaluated in batches.
class ModelCutChoice {
 public:
  // `products` as for best_model_cut.
  ModelCutChoice(const ChildModels& models, const RowMatrix& products, double node_loss)
      : losses_(models, products), node_loss_(node_loss) {}

  // Adds a cut. Two models: O(d^3).
  void consider(const RowMatrix& left, index_t n_left, double threshold);
  Cut best();

 private:
  static constexpr index_t kCutsAtOnce = kSidesAtOnce / 2;
  struct Waiting {
    RowMatrix left;
    index_t n_left;
    double threshold;
  };
  void judge();

  SideLosses losses_;
  double node_loss_;
  std::array<Waiting, kCutsAtOnce> waiting_;
  index_t n_waiting_ = 0;
  Cut best_;
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

}  // namespace fctree::oblique
