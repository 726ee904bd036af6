#include "oblique/open_node.hpp"

namespace fctree::oblique {

namespace {

// Scores closer than their rounding error are equal. The error is that of the original features,
// which prediction uses.
double score_noise(const GrowState& state, const OpenNode& node, const Vector& direction) {
  const index_t d = state.data.n_features;
  Vector mean = (node.moments.mean + state.origin).head(d);
  if (state.offset.size() > 0) mean += state.offset;
  const Vector size =
      (mean.cwiseAbs2() + node.moments.diagonal.head(d) / node.moments.weight).cwiseSqrt();
  return rounding_of_scores(direction.cwiseAbs().dot(size));
}

}  // namespace

CutRules cut_rules(const GrowState& state, const OpenNode& node, const Vector& direction) {
  return {state.params.min_samples_leaf, score_noise(state, node, direction)};
}

Vector direction_of(const GrowState& state, const OpenNode& node, const SplitInfo& candidate) {
  switch (candidate.kind) {
    case SplitKind::ridge:
      return state.ridge_directions(node).col(candidate.index);
    case SplitKind::curvature:
      return node.curvature.col(candidate.index);
    default:
      return Vector::Unit(state.data.n_features, candidate.index);
  }
}

}  // namespace fctree::oblique
