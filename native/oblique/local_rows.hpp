// The samples of a tree that is grown where they are: in GrowState::data, their row numbers node
// by node in GrowState::rows.
#pragma once

#include "oblique/row_work.hpp"

namespace fctree {

class LocalRows final : public RowWork {
 public:
  void open(GrowState& state, OpenNode& root) override;
  std::vector<Moments> full_moments(const GrowState& state,
                                    const std::vector<OpenNode*>& nodes) override;
  std::vector<Moments> simple_moments(const GrowState& state,
                                      const std::vector<OpenNode*>& nodes) override;
  double find_alpha(const GrowState& state, const OpenNode& root) override;
  RidgeFit fit_dual(const GrowState& state, const OpenNode& node) override;
  Matrix sparse_dual(const GrowState& state, const OpenNode& node) override;
  void score_models(GrowState& state, const std::vector<OpenNode*>& nodes) override;
  std::vector<std::vector<Matrix>> residual_scatter(
      const GrowState& state, const std::vector<OpenNode*>& nodes) override;
  std::vector<Vector> promises(const GrowState& state,
                               const std::vector<OpenNode*>& nodes) override;
  void find_cuts(const GrowState& state, const std::vector<CutTask>& tasks) override;
  void part(GrowState& state, std::vector<Split>& splits) override;
  std::vector<DecreaseSums> decreases(const GrowState& state, const std::vector<Split>& splits,
                                      const std::vector<SplitModels>& models) override;
};

}  // namespace fctree
