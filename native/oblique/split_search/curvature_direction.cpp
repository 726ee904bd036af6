// Curvature directions (curvature.hpp) as candidates of a level.
#include "oblique/node_statistics.hpp"
#include "oblique/split_search/curvature.hpp"
#include "oblique/split_search/directions.hpp"
#include "oblique/split_search/sparse_direction.hpp"

namespace fctree::oblique {

namespace {

class CurvatureDirections : public DirectionSearch {
 public:
  CurvatureDirections(const GrowState& state, SplitKind kind, const std::vector<OpenNode*>& nodes)
      : DirectionSearch(state, kind, nodes), problems_(nodes.size()) {}

  // The problems are kept where sparse directions are wanted.
  void find() override {
    std::vector<OpenNode*> with_moments;
    std::vector<index_t> numbers;
    for (index_t i = 0; i < static_cast<index_t>(nodes_.size()); ++i) {
      if (state_.is_dual(node(i))) continue;
      with_moments.push_back(&node(i));
      numbers.push_back(i);
    }
    const auto scatter = state_.statistics->residual_scatter(state_, with_moments);
    parallel_for(state_.execution, static_cast<index_t>(numbers.size()), [&](index_t at) {
      const index_t i = numbers[at];
      problems_[i] = curvature_problem(node(i).moments, scatter[at]);
      found(i) = curvature_directions(problems_[i], state_.params.n_curvature);
      if (!state_.has_sparse_directions()) problems_[i] = CurvatureProblem();
    });
  }
  void restrict_to_drawn(index_t i) override {
    if (found(i).cols() > 0)
      found(i) = curvature_on(problems_[i], node(i).features, found(i).cols());
  }
  void sparsify(index_t i) override {
    for (index_t c = 0; c < found(i).cols(); ++c)
      found(i).col(c) = sparse_curvature(problems_[i], found(i).col(c), state_.params.max_coef);
  }

 private:
  std::vector<CurvatureProblem> problems_;
};

}  // namespace

std::unique_ptr<DirectionSearch> search_curvature_directions(
    const GrowState& state, SplitKind kind, const std::vector<OpenNode*>& nodes) {
  return std::make_unique<CurvatureDirections>(state, kind, nodes);
}

}  // namespace fctree::oblique
