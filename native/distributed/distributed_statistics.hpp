// The sums of a tree whose samples lie in many places, of which this is one: each takes its part of
// a sum (core/block_sums.hpp, core/collective.hpp), and all get the same whole, and so the same tree.
//
// A fixed sample of the rows of all places says where a direction may be cut: at the quantiles of its
// scores, all of which are tried where there are few; and along axes under the constant criterion
// between bins of the features, the same in all nodes. A node that has none of the sample's rows is
// split between bins only.
#pragma once

#include <vector>

#include "distributed/node_blocks.hpp"
#include "oblique/node_statistics.hpp"
#include "oblique/split_search/feature_bins.hpp"
#include "oblique/split_search/histogram.hpp"
#include "oblique/split_search/screening.hpp"

namespace fctree::distributed {

using namespace oblique;

class DistributedStatistics final : public NodeStatistics {
 public:
  // data: the samples here, with weights; sample: rows of all places in their order. bins: of the
  // features here, if trees need them (sorts_axes). All have to stay.
  DistributedStatistics(const TrainingData& data, const RowBlocks& blocks,
                        const TrainingData& sample, const BinnedFeatures* bins);

  void open(GrowState& state, OpenNode& root) override;
  void open_leaves(GrowState& state, const std::int32_t* leaf,
                   const std::vector<OpenNode*>& leaves) override;
  std::vector<Moments> full_moments(const GrowState& state,
                                    const std::vector<OpenNode*>& nodes) override;
  std::vector<Moments> simple_moments(const GrowState& state,
                                      const std::vector<OpenNode*>& nodes) override;
  double find_alpha(const GrowState& state, const OpenNode& root) override;
  SampleSums sum_samples(const GrowState& state, const OpenNode& root) override;
  NodeRows few_rows(const GrowState& state, const OpenNode& node) override;
  void score_models(GrowState&, const std::vector<OpenNode*>&) override {}
  std::vector<std::vector<Matrix>> residual_scatter(
      const GrowState& state, const std::vector<OpenNode*>& nodes) override;
  std::vector<Vector> promises(const GrowState& state,
                               const std::vector<OpenNode*>& nodes) override;
  void find_cuts(const GrowState& state, const std::vector<CutTask>& tasks) override;
  void part(GrowState& state, std::vector<Split>& splits) override;
  std::vector<DecreaseSums> decreases(const GrowState& state, const std::vector<Split>& splits,
                                      const std::vector<SplitModels>& models) override;

 private:
  std::vector<Vector> shifts_of(const GrowState& state, const std::vector<OpenNode*>& nodes);
  std::vector<Vector> heaviest_of(const GrowState& state, const std::vector<OpenNode*>& nodes);
  std::vector<double> residuals(const GrowState& state, const std::vector<OpenNode*>& nodes) const;
  std::vector<ScreeningPlan> screening_plans(const GrowState& state,
                                             const std::vector<OpenNode*>& nodes);
  std::vector<double> thresholds_of(const GrowState& state, const CutTask& task) const;
  void find_cuts_at_quantiles(const GrowState& state, const std::vector<CutTask>& tasks);
  void find_some_cuts(const GrowState& state, const CutTask* tasks, index_t n_tasks);
  void find_cuts_between_bins(const GrowState& state, const std::vector<CutTask>& tasks);
  std::vector<std::int64_t> histograms(const GrowState& state, const std::vector<OpenNode*>& nodes);
  NodeRows sample_of(const OpenNode& node) const {
    const std::vector<std::int32_t>& rows = sample_rows_[node.begin];
    return {rows.data(), static_cast<index_t>(rows.size())};
  }

  const TrainingData& data_;
  NodeBlocks rows_;
  const TrainingData& sample_;
  std::vector<std::vector<std::int32_t>> sample_rows_;  // of the sample, by node
  const BinnedFeatures* bins_;
  BinnedTerms binned_;
  std::vector<double> units_;  // of the number, the weight and the targets in a bin
};

}  // namespace fctree::distributed
