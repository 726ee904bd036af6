#include "oblique/open_node.hpp"

namespace fctree::oblique {

namespace {

// Concatenated directions, none longer than this: the penalty 1 / (1 + s^2) along one of length s is lost in the rounding
// of 1 - s^2 / (1 + s^2) as s^2 approaches 1e16.
constexpr double kLongest = 1e5;

}  // namespace

Matrix ancestors_of_children(const GrowState& state, const OpenNode& node, index_t output) {
  if (!state.params.feature_concatenation || !state.has_models()) return node.ancestors;
  const double unit = state.params.target_unit > 0.0 ? 0.5 * state.params.target_unit : 1.0;
  const Matrix scores = node.fit.coef / unit;
  Matrix added = output < 0 ? scores : Matrix(scores.col(output));
  for (auto direction : added.colwise()) direction /= std::max(1.0, direction.stableNorm() / kLongest);
  Matrix ancestors(added.rows(), node.ancestors.cols() + added.cols());
  ancestors << node.ancestors, added;
  return ancestors;
}

Vector feature_sizes(const GrowState& state, const OpenNode& node) {
  const index_t d = state.data.n_features;
  Vector mean = (node.moments.mean + state.origin).head(d);
  if (state.offset.size() > 0) mean += state.offset;
  return (mean.cwiseAbs2() + node.moments.diagonal.head(d) / node.moments.weight).cwiseSqrt();
}

// Scores closer than their own rounding error are the same score.
CutRules cut_rules(const GrowState& state, const OpenNode& node, const SplitInfo& candidate) {
  const double size =
      candidate.kind == SplitKind::axis
          ? state.root_sizes[candidate.index]
          : direction_of(state, node, candidate).cwiseAbs().dot(feature_sizes(state, node));
  return {state.params.min_samples_leaf, rounding_of_scores(size)};
}

Vector direction_of(const GrowState& state, const OpenNode& node, const SplitInfo& candidate) {
  if (candidate.kind == SplitKind::axis) return Vector::Unit(state.data.n_features, candidate.index);
  if (candidate.kind == SplitKind::ridge && !state.has_principal_directions())
    return state.ridge_directions(node).col(candidate.index);
  return node.directions[static_cast<index_t>(candidate.kind)].col(candidate.index);
}

}  // namespace fctree::oblique
