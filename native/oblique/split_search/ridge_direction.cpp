// The ridge directions: the coefficients of the node's own fit, of each output (FC-ODT, step 2).
//
// Of more than eight outputs, by the ridge criterion, they are the principal ones.
#include "core/parallel.hpp"
#include "oblique/split_search/directions.hpp"
#include "oblique/split_search/sparse_direction.hpp"
#include "ridge/reduced_rank.hpp"

namespace fctree::oblique {

namespace {

class RidgeDirections : public DirectionSearch {
 public:
  using DirectionSearch::DirectionSearch;
  void find() override {
    if (!state_.has_principal_directions() || state_.draws_features()) return;
    parallel_for(state_.execution, static_cast<index_t>(nodes_.size()), [&](index_t i) {
      found(i) = principal_directions(node(i).moments, node(i).fit.coef, kMostRidgeDirections);
    });
  }
  void restrict_to_drawn(index_t i) override {
    if (!state_.has_principal_directions()) return;
    sparsify_ridge(state_, node(i));
    found(i) = principal_directions(node(i).moments, node(i).sparse_ridge.coef, kMostRidgeDirections);
  }
  void propose(index_t i) override {
    if (state_.has_principal_directions()) return DirectionSearch::propose(i);
    for (index_t k = 0; k < state_.data.n_outputs; ++k) add_candidate(i, k);
  }
  void sparsify(index_t i) override {
    if (!state_.has_principal_directions()) sparsify_ridge(state_, node(i));
  }
};

}  // namespace

std::unique_ptr<DirectionSearch> search_ridge_directions(const GrowState& state, SplitKind kind,
                                                         const std::vector<OpenNode*>& nodes) {
  return std::make_unique<RidgeDirections>(state, kind, nodes);
}

}  // namespace fctree::oblique
