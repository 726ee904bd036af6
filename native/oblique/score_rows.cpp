#include "oblique/score_rows.hpp"

#include "ridge/row_blocks.hpp"

namespace fctree::oblique {

void score_rows(const TrainingData& data, const NodeRows& rows, const SplitInfo& candidate,
                const Vector& direction, double* scores) {
  if (candidate.kind == SplitKind::axis)
    read_feature(data, rows, candidate.index, scores);
  else
    dense_kernels().project(select(data, rows), direction.data(), 1, scores, rows.size);
}

void score_rows(const GrowState& state, const OpenNode& node, const SplitInfo& candidate,
                const NodeRows& rows, double* scores) {
  const bool is_axis = candidate.kind == SplitKind::axis;
  score_rows(state.data, rows, candidate, is_axis ? Vector() : direction_of(state, node, candidate), scores);
}

const double* known_scores(const GrowState& state, const OpenNode& node, const SplitInfo& candidate) {
  if (!state.has_scores(candidate)) return nullptr;
  return state.scores.data() + candidate.index * state.n_rows() + node.begin;
}

const double* candidate_scores(const GrowState& state, const OpenNode& node,
                               const SplitInfo& candidate, std::vector<double>& storage) {
  const double* known = known_scores(state, node, candidate);
  if (known != nullptr) return known;
  storage.resize(node.size);
  score_rows(state, node, candidate, state.rows_of(node), storage.data());
  return storage.data();
}

}  // namespace fctree::oblique
