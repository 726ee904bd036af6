// Axes: the features one by one, all or the most promising (screening.hpp).
#include "oblique/node_statistics.hpp"
#include "oblique/split_search/directions.hpp"
#include "oblique/split_search/screening.hpp"

namespace fctree::oblique {

namespace {

class Axes : public DirectionSearch {
 public:
  using DirectionSearch::DirectionSearch;
  void screen() override {
    if (state_.screens_axes()) promises_ = state_.statistics->promises(state_, nodes_);
  }
  void propose(index_t i) override {
    const OpenNode& of = node(i);
    const std::vector<index_t> features =
        promises_.empty() ? state_.features_of(of) : most_promising(state_, of, promises_[i]);
    for (const index_t feature : features) add_candidate(i, feature);
  }
  void sparsify(index_t) override {}  // one feature each

 private:
  std::vector<Vector> promises_;
};

}  // namespace

std::unique_ptr<DirectionSearch> search_axes(const GrowState& state, SplitKind kind,
                                             const std::vector<OpenNode*>& nodes) {
  return std::make_unique<Axes>(state, kind, nodes);
}

}  // namespace fctree::oblique
