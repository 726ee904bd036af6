// The trees of a round of boosting: one of each kind that takes part, of which one is kept (boost.hpp).
//
// Curvature trees take few of many features where these suffice; where they would take all, residual trees may compete: a
// linear model of all features, and a tree of those that matter for what it leaves, as one. Of few samples of several
// classes linear models compete, too. Step trees see most of the features.
#pragma once

#include <functional>
#include <vector>

#include "ensembles/leaf_values.hpp"
#include "ensembles/params.hpp"
#include "ensembles/sampled_search.hpp"
#include "ensembles/tree_features.hpp"
#include "ensembles/turns.hpp"
#include "ensembles/working_response.hpp"

namespace fctree::ensembles {

// The input that is the same in all rounds.
struct BoostedProblem {
  const ObliqueBoostingParams& params;
  const Loss& loss;
  const BoostedSet& train;
  const index_t* groups;  // of the features (training_data.hpp)
  BoostingStatistics& statistics;
  const Execution& execution;
};

// A round: the loss at the scores of now, and the rows that its trees are grown on.
struct BoostingRound {
  index_t iteration;
  Derivatives derivatives;     // hessian null: the loss has none
  const std::uint8_t* in_bag;  // or null for all rows
  double subsample;            // the probability with which these were drawn
};

// A tree of a kind, which predicts what is left of the targets.
struct Contender {
  index_t kind;
  const TreeFeatures* features;
  ObliqueTreeArrays tree;
  LeafBounds bounds;
};

class Contenders {
 public:
  // kinds: parameters of the kinds, of targets in the units that the loss has; features: of the training samples.
  Contenders(const BoostedProblem& problem, std::vector<ObliqueParams> kinds, FeatureMap features);

  index_t n_kinds() const { return static_cast<index_t>(kinds_.size()); }
  double alpha() const { return kinds_[kCurvature].alpha; }
  // Whether trees may take few features while a linear model of all predicts better.
  bool may_leave_residuals() const;
  // Whether step trees of few levels compete too.
  bool may_take_few_steps() const;

  void start();
  void open_round(const BoostingRound& round, const RowSampler& rows);
  // The kinds that compete, of those that take part: residual trees only where a curvature tree would take all features.
  std::vector<index_t> kinds_of_round(const std::function<bool(index_t)>& takes_part);
  Contender grow(index_t kind);

 private:
  double colsample() const;
  void set_features();
  TrainingData data_of(const TreeFeatures& features) const;
  TrainingData counted(TrainingData data);
  TrainingData fitted_data(const TreeFeatures& features, const ObliqueParams& params);
  const TreeFeatures& take_features(index_t kind);
  RoundTree grow_curvature_tree();
  RoundTree grow_residual_tree();
  RoundTree grow_linear_tree();
  RoundTree grow_step_tree(index_t kind, const TreeFeatures& features);
  RoundTree grow_tree(index_t kind, const TreeFeatures& features);
  void finish_leaves(const Buffer<index_t>& leaf, const TrainingData& data, Contender& contender) const;

  const BoostedProblem problem_;
  std::vector<ObliqueParams> kinds_;
  RoundFeatures features_;
  index_t fewest_in_leaf_ = 1;  // of step trees of many levels, for the loss
  std::vector<double> counts_;  // ones, once they have been asked for: rows without weights are a sample each
  BoostingRound round_{};
  WorkingResponse response_;
  SearchedRows searched_;
  const TreeFeatures* curved_ = nullptr;  // of the round's curvature tree
};

}  // namespace fctree::ensembles
