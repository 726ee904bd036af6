#include "oblique/score_rows.hpp"

#include "ridge/row_blocks.hpp"

namespace fctree::oblique {

RowSelection select(const TrainingData& data, const NodeRows& rows) {
  return {data.x, data.y, nullptr, rows.rows, rows.size, data.n_features, data.n_outputs};
}

void score_rows(const TrainingData& data, const NodeRows& rows, const double* direction,
                index_t axis, double* scores) {
  if (axis < 0)
    dense_kernels().project(select(data, rows), direction, 1, scores, rows.size);
  else
    read_feature(data, rows, axis, scores);
}

void score_rows(const GrowState& state, const OpenNode& node, const SplitInfo& candidate,
                const NodeRows& rows, double* scores) {
  if (candidate.kind == SplitKind::axis)
    return score_rows(state.data, rows, nullptr, candidate.index, scores);
  const Vector direction = direction_of(state, node, candidate);
  score_rows(state.data, rows, direction.data(), -1, scores);
}

const double* candidate_scores(const GrowState& state, const OpenNode& node,
                               const SplitInfo& candidate, std::vector<double>& storage) {
  if (candidate.kind == SplitKind::ridge && !state.has_sparse_directions())
    return state.scores.data() + candidate.index * state.n_rows() + node.begin;
  storage.resize(node.size);
  score_rows(state, node, candidate, state.rows_of(node), storage.data());
  return storage.data();
}

}  // namespace fctree::oblique
