// The samples of a tree that lie in many places: each question of the grower is one step that all
// places take (shard_steps.hpp), the sums of which come back joined.
//
// A fixed sample of the rows is here, and says where a direction may be cut: at the quantiles of its
// scores, all of which are tried where there are few; and along axes under the constant criterion
// between bins of the features, the same in all nodes. A node that has none of the sample's rows is
// split between bins only.
#pragma once

#include <vector>

#include "distributed/step_arguments.hpp"
#include "oblique/node_statistics.hpp"
#include "oblique/split_search/feature_bins.hpp"

namespace fctree::distributed {

class DistributedStatistics final : public NodeStatistics {
 public:
  // sample: rows in the order of all rows, with their targets and weights. n_samples: those with
  // a weight, of all places. bins: of the features, if trees need them (sorts_axes).
  DistributedStatistics(const TrainingData& sample, index_t n_samples, const Asker& asker,
             const FeatureBins* bins);

  void open(GrowState& state, OpenNode& root) override;
  std::vector<Moments> full_moments(const GrowState& state,
                                    const std::vector<OpenNode*>& nodes) override;
  std::vector<Moments> simple_moments(const GrowState& state,
                                      const std::vector<OpenNode*>& nodes) override;
  double find_alpha(const GrowState& state, const OpenNode& root) override;
  RidgeFit fit_dual(const GrowState& state, const OpenNode& node) override;
  Matrix sparse_dual(const GrowState& state, const OpenNode& node) override;
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
  std::vector<double> ask(const std::string& step, const std::vector<StepArgument>& arguments);
  // The numbers of nodes, and the points that their sums are taken about.
  StepArgument numbers_of(const std::vector<OpenNode*>& nodes) const;
  std::vector<Vector> shifts_of(const std::vector<OpenNode*>& nodes);
  std::vector<double> thresholds_of(const GrowState& state, const CutTask& task) const;
  void find_cuts_at_quantiles(const GrowState& state, const std::vector<CutTask>& tasks);
  void find_some_cuts(const GrowState& state, const CutTask* tasks, index_t n_tasks);
  void find_cuts_between_bins(const GrowState& state, const std::vector<CutTask>& tasks);
  NodeRows sample_of(const OpenNode& node) const {
    const std::vector<std::int32_t>& rows = sample_rows_[node.begin];
    return {rows.data(), static_cast<index_t>(rows.size())};
  }

  const TrainingData& sample_;
  index_t n_samples_;
  Asker asker_;
  const FeatureBins* bins_;
  std::vector<std::vector<std::int32_t>> sample_rows_;  // of the sample, by node
};

}  // namespace fctree::distributed
