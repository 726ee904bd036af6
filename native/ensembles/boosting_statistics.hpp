// Sums over all samples that boosting needs. Each place keeps the scores of its own samples; these may
// all lie here (local_boosting_statistics.hpp) or also in other places (native/distributed).
#pragma once

#include "ensembles/boosted_set.hpp"
#include "oblique/params.hpp"
#include "ridge/feature_map.hpp"

namespace fctree::ensembles {

// A tree of a round, the rows that it was grown on (n_samples), and the derivatives that it was grown for.
struct TreeStep {
  const ObliqueTreesArrays& tree;
  const std::vector<std::uint8_t>& in_bag;
  Derivatives derivatives;
};

class BoostingStatistics {
 public:
  virtual ~BoostingStatistics() = default;

  // The loss, and the derivatives of the samples here if wanted.
  virtual LossSum evaluate(const BoostedSet& set, const Loss& loss, const Derivatives* out,
                           const Execution& execution) = 0;
  // The loss of the rows that are not in the bag.
  virtual LossSum evaluate_left_out(const BoostedSet& set, const Loss& loss,
                                    const std::vector<std::uint8_t>& in_bag,
                                    const Execution& execution) = 0;
  // The effect of the tree's step on the rows that are not in the bag.
  virtual StepSums left_out_step(const BoostedSet& set, const Loss& loss, const TreeStep& step,
                                 const Execution& execution) = 0;

  // Whether the selection of features, trees along axes (takes_only_axes) and those that are grown on a sample of the
  // rows read standardised features block by block, from data that have a reader of them, instead of keeping them in memory.
  virtual bool reads_features(index_t n_samples, index_t n_features) const = 0;
  // All features of these samples, once, for kinds that cut along axes by constants (sorts_axes).
  virtual void index_features(const TrainingData& features, const FeatureMap& map,
                              const Execution& execution) = 0;
  // The features of the next trees of a kind.
  virtual void set_features(index_t kind, const FeatureMap& map, const Execution& execution) = 0;
  // The few features that a tree of this kind needs most (relevant_features.hpp), or none for all.
  virtual std::vector<index_t> relevant_features(const TrainingData& data, index_t kind,
                                                 const ObliqueParams& params,
                                                 const Execution& execution) = 0;
  // A tree of this kind on the samples here, whose features are the last ones set.
  virtual ObliqueTreeArrays grow(const TrainingData& data, index_t kind,
                                 const ObliqueParams& params, const Execution& execution) = 0;
  // A tree that was grown on some of the samples, fitted to all (oblique/refit.hpp).
  virtual ObliqueTreeArrays refit(const ObliqueTreeArrays& grown, const TrainingData& data, index_t kind,
                                  const ObliqueParams& params, const Execution& execution,
                                  Buffer<index_t>& leaf) = 0;
};

}  // namespace fctree::ensembles
