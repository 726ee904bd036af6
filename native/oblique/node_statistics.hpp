// Interface between the grower and the samples. The grower sees only moments, models and cuts of
// nodes; samples may be local (local_statistics.hpp) or distributed (distributed_statistics.hpp).
#pragma once

#include <utility>
#include <vector>

#include "oblique/open_node.hpp"

namespace fctree::oblique {

// Axis splits under the constant criterion, which need only bins of the features.
struct CutsByKind {
  std::vector<CutTask> axes_by_constants;
  std::vector<CutTask> others;
};
inline CutsByKind cuts_by_kind(const std::vector<CutTask>& tasks) {
  CutsByKind kinds;
  for (const CutTask& task : tasks) {
    const bool is_axis = task.split().kind == SplitKind::axis;
    (is_axis && task.search == nullptr ? kinds.axes_by_constants : kinds.others).push_back(task);
  }
  return kinds;
}

class NodeStatistics {
 public:
  virtual ~NodeStatistics() = default;

  // The offset subtracted from the original features (offset_of), or empty.
  void set_offset(Vector offset) { offset_ = std::move(offset); }
  const Vector& offset() const { return offset_; }

  // Sets the root's size and begin, and state.origin to a sample of the largest weight.
  virtual void open(GrowState& state, OpenNode& root) = 0;
  // The same of the leaves of a known tree: `leaf` (n_samples) has the place of each sample's, negative for none.
  virtual void open_leaves(GrowState& state, const std::int32_t* leaf,
                           const std::vector<OpenNode*>& leaves) = 0;
  // Full moments, and means and diagonals only (only those of the targets in leaves that need no
  // more).
  virtual std::vector<Moments> full_moments(const GrowState& state,
                                            const std::vector<OpenNode*>& nodes) = 0;
  virtual std::vector<Moments> simple_moments(const GrowState& state,
                                              const std::vector<OpenNode*>& nodes) = 0;
  virtual double find_alpha(const GrowState& state, const OpenNode& root) = 0;
  virtual SampleSums sum_samples(const GrowState& state, const OpenNode& root) = 0;
  // The rows of a node with fewer samples than features, which is fitted from them.
  virtual NodeRows few_rows(const GrowState& state, const OpenNode& node) = 0;

  // Called before a level is searched, if its nodes have models.
  virtual void score_models(GrowState& state, const std::vector<OpenNode*>& nodes) = 0;
  // Residual-weighted scatter about the mean, one matrix per output, upper triangle.
  virtual std::vector<std::vector<Matrix>> residual_scatter(
      const GrowState& state, const std::vector<OpenNode*>& nodes) = 0;
  // The promise of each feature (screening.hpp), (d) per node.
  virtual std::vector<Vector> promises(const GrowState& state,
                                       const std::vector<OpenNode*>& nodes) = 0;
  // Fills the cuts of the tasks' candidates.
  virtual void find_cuts(const GrowState& state, const std::vector<CutTask>& tasks) = 0;

  // Partitions the samples of split nodes, and sets where those of their children begin.
  virtual void part(GrowState& state, std::vector<Split>& splits) = 0;
  // Leave-one-out decreases over the samples of each split.
  virtual std::vector<DecreaseSums> decreases(const GrowState& state,
                                              const std::vector<Split>& splits,
                                              const std::vector<SplitModels>& models) = 0;

 private:
  Vector offset_;
};

}  // namespace fctree::oblique
