// Node statistics of local samples: in GrowState::data, their row numbers node by node in
// GrowState::rows. One object may serve many trees, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "oblique/node_statistics.hpp"
#include "oblique/split_search/feature_order.hpp"
#include "oblique/split_search/histogram_split.hpp"
#include "ridge/feature_map.hpp"

namespace fctree::oblique {

using namespace ridge;

// Computed once for many trees on the same features, from all rows of GrowState::data, for axis
// splits under the constant criterion: the order of the features, so that no node sorts, or their
// bins, so that cuts are between bins. Or neither. A tree may see only some of these columns.
struct FeatureIndex {
  std::vector<index_t> columns;  // of the table, ascending
  FeatureOrder order;
  std::shared_ptr<const BinnedFeatures> bins;
};
// Whether cuts of so many rows are between bins.
bool takes_bins(index_t n_samples);
// Of all features of these samples: bins of many rows, else the order unless it would take too much memory, where
// nodes sort anew, with the same result.
FeatureIndex index_features(const TrainingData& features, const FeatureMap& map,
                            const Execution& execution);

class LocalStatistics final : public NodeStatistics {
 public:
  explicit LocalStatistics(const FeatureIndex* features = nullptr) : features_(features) {}

  // The columns of the table that are the features of the next trees, among those of the index.
  void set_columns(std::vector<index_t> columns) { columns_ = std::move(columns); }

  void open(GrowState& state, OpenNode& root) override;
  void open_leaves(GrowState& state, const std::int32_t* leaf,
                   const std::vector<OpenNode*>& leaves) override;
  std::vector<Moments> full_moments(const GrowState& state,
                                    const std::vector<OpenNode*>& nodes) override;
  std::vector<Moments> simple_moments(const GrowState& state,
                                      const std::vector<OpenNode*>& nodes) override;
  double find_alpha(const GrowState& state, const OpenNode& root) override;
  SampleSums sum_samples(const GrowState& state, const OpenNode& root) override;
  NodeRows few_rows(const GrowState& state, const OpenNode& node) override { return state.rows_of(node); }
  void score_models(GrowState& state, const std::vector<OpenNode*>& nodes) override;
  std::vector<std::vector<Matrix>> residual_scatter(
      const GrowState& state, const std::vector<OpenNode*>& nodes) override;
  std::vector<Vector> promises(const GrowState& state,
                               const std::vector<OpenNode*>& nodes) override;
  void find_cuts(const GrowState& state, const std::vector<CutTask>& tasks) override;
  void part(GrowState& state, std::vector<Split>& splits) override;
  std::vector<DecreaseSums> decreases(const GrowState& state, const std::vector<Split>& splits,
                                      const std::vector<SplitModels>& models) override;

  // Frees what a tree had of the features: their bins, and unless it is to be kept their order.
  void release(bool keeps_order) {
    bin_cuts_.reset();
    if (!keeps_order) order_ = {};
  }

 private:
  bool has_order() const { return !order_.is_empty(); }
  bool has_bins() const { return features_ != nullptr && features_->bins != nullptr; }
  void find_cuts_along_scores(const GrowState& state, const std::vector<CutTask>& tasks);
  std::shared_ptr<const BinnedFeatures> bins_of_columns() const;
  Cut cut_by_constants(const GrowState& state, const CutTask& task) const;

  const FeatureIndex* features_;
  std::vector<index_t> columns_;
  FeatureOrder order_;                   // of the tree's samples, node by node as their rows
  std::vector<std::uint8_t> goes_left_;  // by row number
  std::optional<HistogramSplits> bin_cuts_;      // of the tree's samples, if there are bins
};

}  // namespace fctree::oblique
