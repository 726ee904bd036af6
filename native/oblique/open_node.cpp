#include "oblique/open_node.hpp"

#include <cmath>

namespace fctree::oblique {

namespace {

// How large a feature is in the node, as it came: prediction takes these.
double size_of(const GrowState& state, const OpenNode& node, index_t feature) {
  double mean = node.moments.mean[feature] + state.origin[feature];
  if (state.offset.size() > 0) mean += state.offset[feature];
  return std::sqrt(mean * mean + node.moments.diagonal[feature] / node.moments.weight);
}

// Scores closer than their own rounding error are the same score.
double score_noise(const GrowState& state, const OpenNode& node, const Vector& direction) {
  const index_t d = state.data.n_features;
  Vector mean = (node.moments.mean + state.origin).head(d);
  if (state.offset.size() > 0) mean += state.offset;
  const Vector size =
      (mean.cwiseAbs2() + node.moments.diagonal.head(d) / node.moments.weight).cwiseSqrt();
  return rounding_of_scores(direction.cwiseAbs().dot(size));
}

}  // namespace

CutRules cut_rules(const GrowState& state, const OpenNode& node, const SplitInfo& candidate) {
  if (candidate.kind == SplitKind::axis)
    return {state.params.min_samples_leaf,
            rounding_of_scores(size_of(state, node, candidate.index))};
  return cut_rules(state, node, direction_of(state, node, candidate));
}

CutRules cut_rules(const GrowState& state, const OpenNode& node, const Vector& direction) {
  return {state.params.min_samples_leaf, score_noise(state, node, direction)};
}

Vector direction_of(const GrowState& state, const OpenNode& node, const SplitInfo& candidate) {
  switch (candidate.kind) {
    case SplitKind::ridge:
      return state.ridge_directions(node).col(candidate.index);
    case SplitKind::axis:
      return Vector::Unit(state.data.n_features, candidate.index);
    default:
      return node.directions[static_cast<index_t>(candidate.kind)].col(candidate.index);
  }
}

}  // namespace fctree::oblique
