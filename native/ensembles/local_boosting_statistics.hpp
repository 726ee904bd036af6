// Boosting on samples that are all here.
#pragma once

#include "ensembles/boosting_statistics.hpp"
#include "oblique/local_statistics.hpp"

namespace fctree::ensembles {

class LocalBoostingStatistics final : public BoostingStatistics {
 public:
  explicit LocalBoostingStatistics(index_t n_kinds) {
    for (index_t kind = 0; kind < n_kinds; ++kind) statistics_.emplace_back(&features_);
  }

  LossSum evaluate(const BoostedSet& set, const Loss& loss, const Derivatives* out,
                   const Execution& execution) override;
  LossSum evaluate_left_out(const BoostedSet& set, const Loss& loss,
                            const std::vector<std::uint8_t>& in_bag,
                            const Execution& execution) override;
  StepSums left_out_step(const BoostedSet& set, const Loss& loss, const TreeStep& step,
                         const Execution& execution) override;
  void set_features(index_t kind, const FeatureMap& map, const Execution& execution) override;
  bool reads_features(index_t n_samples, index_t n_features) const override;
  void index_features(const TrainingData& features, const FeatureMap& map,
                      const Execution& execution) override;
  std::vector<index_t> relevant_features(const TrainingData& data, index_t kind,
                                         const ObliqueParams& params,
                                         const Execution& execution) override;
  ObliqueTreeArrays grow(const TrainingData& data, index_t kind, const ObliqueParams& params,
                         const Execution& execution) override;
  ObliqueTreeArrays refit(const ObliqueTreeArrays& grown, const TrainingData& data, index_t kind,
                          const ObliqueParams& params, const Execution& execution,
                          Buffer<index_t>& leaf) override;

 private:
  FeatureIndex features_;  // order or bins, if a kind of tree needs them
  std::vector<LocalStatistics> statistics_;
  bool keeps_order_ = true;  // of a tree's samples, for the next tree
};

}  // namespace fctree::ensembles
