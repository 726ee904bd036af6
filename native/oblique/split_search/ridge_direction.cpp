// The ridge directions, one an output: the coefficients of the node's own fit (FC-ODT, step 1).
#include "oblique/split_search/directions.hpp"
#include "oblique/split_search/sparse_direction.hpp"

namespace fctree::oblique {

namespace {

class RidgeDirections : public DirectionSearch {
 public:
  using DirectionSearch::DirectionSearch;
  void propose(index_t i) override {
    for (index_t k = 0; k < state_.data.n_outputs; ++k) add_candidate(i, k);
  }
  void sparsify(index_t i) override { sparsify_ridge(state_, node(i)); }
};

}  // namespace

std::unique_ptr<DirectionSearch> search_ridge_directions(const GrowState& state, SplitKind kind,
                                                         const std::vector<OpenNode*>& nodes) {
  return std::make_unique<RidgeDirections>(state, kind, nodes);
}

}  // namespace fctree::oblique
