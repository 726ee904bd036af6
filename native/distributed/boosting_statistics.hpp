// Boosting oblique trees on samples that lie in many places, of which this is one.
#pragma once

#include <vector>

#include "core/block_sums.hpp"
#include "ensembles/boosting_statistics.hpp"
#include "oblique/split_search/feature_bins.hpp"

namespace fctree::distributed {

using namespace ensembles;

class DistributedBoostingStatistics final : public BoostingStatistics {
 public:
  // The samples here, which have blocks, and the numbers of those that are in the sample that
  // thresholds are looked for in, ascending. Both have to stay.
  DistributedBoostingStatistics(const BoostedSamples& samples,
                                const std::vector<index_t>& sample_rows)
      : samples_(samples), sample_rows_(sample_rows) {}

  LossSum evaluate(const BoostedSet& set, const Loss& loss, const Derivatives* out,
                   const Execution& execution) override;
  LossSum evaluate_left_out(const BoostedSet& set, const Loss& loss,
                            const std::vector<std::uint8_t>& in_bag,
                            const Execution& execution) override;
  StepSums left_out_step(const BoostedSet& set, const Loss& loss, const TreeStep& step,
                         const Execution& execution) override;
  void set_features(index_t kind, const FeatureMap& map, const Execution& execution) override;
  bool reads_features(index_t, index_t) const override { return false; }
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
  std::vector<double> of_sample(const double* values, index_t width,
                                const Execution& execution) const;
  std::vector<double> map_sample(const FeatureMap& map, const Execution& execution);
  template <class Use>
  auto with_statistics(const TrainingData& data, index_t kind, const ObliqueParams& params,
                       const Execution& execution, const Use& use) const;

  const BoostedSamples& samples_;
  const std::vector<index_t>& sample_rows_;
  std::vector<double> sample_x_;  // of all places, features as they came
  struct KindFeatures {
    std::vector<double> sample;
    Vector offset;
    std::vector<index_t> columns;
  };
  std::vector<KindFeatures> features_;
  std::vector<index_t> index_columns_;
  BinnedFeatures bins_;  // of all features of the samples here, between those of the sample
};

}  // namespace fctree::distributed
