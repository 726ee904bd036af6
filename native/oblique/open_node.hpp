// A node of the current level, and the state shared by the steps of growing.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "oblique/params.hpp"
#include "oblique/split_search/leave_one_out.hpp"
#include "oblique/split_search/threshold.hpp"
#include "oblique/tree.hpp"
#include "ridge/feature_map.hpp"
#include "ridge/moments.hpp"
#include "ridge/ridge.hpp"
#include "ridge/side_losses.hpp"

namespace fctree::oblique {

using namespace ridge;

// A direction along which a node may be split (the ridge direction of an output, the axis of a
// feature, or a column of what its kind has found) and the best cut along it.
struct SplitInfo {
  SplitKind kind;
  index_t index;
  Cut cut;
};

constexpr index_t kMostRidgeDirections = 8;  // of more outputs the principal ones

// One linear function per output.
struct LinearModels {
  Matrix coef;       // (d, K)
  Vector intercept;  // (K)
};

class NodeStatistics;

struct OpenNode {
  index_t id = 0;
  index_t depth = 0;
  index_t begin = 0;  // of its rows in GrowState::rows, or its number among distributed ones
  index_t size = 0;
  Moments moments;    // of its samples
  Moments prior;      // pseudo-samples that shrink its model (weight 0: none)
  Matrix ancestors;   // (d, k): directions concatenated on the path
  std::vector<index_t> features;  // that it may split along, ascending; empty for all
  RidgeFit fit;
  double loss = 0.0;  // of its model, by the ridge criterion

  LinearModels sparse_ridge;  // under max_coef: what is cut instead of `fit`
  std::vector<Matrix> directions;  // of each kind, (d, c); none for axes and, unless they are principal ones, ridge
  const Matrix& curvature() const { return directions[static_cast<index_t>(SplitKind::curvature)]; }
  std::vector<SplitInfo> candidates;
};

// Sums of weights that are whole numbers but for rounding count as these.
constexpr double kAboutOne = 1.0 - 1e-9;

// The input, and the arrays shared by all nodes.
struct GrowState {
  GrowState(const TrainingData& samples, const ObliqueParams& of_tree, const Execution& team, NodeStatistics& sums,
            const Vector& subtracted)
      : data(samples), params(of_tree), execution(team), offset(subtracted), statistics(&sums) {
    if (offset.size() > 0 && offset.size() != data.n_features) throw std::logic_error("the offset is of other features");
  }

  const TrainingData& data;
  ObliqueParams params;
  Execution execution;
  Vector origin;                   // (d + K): what means are relative to
  Vector offset;                   // (d): subtracted from the original features, or empty
  Vector root_sizes;               // (d): feature_sizes of the root
  NodeStatistics* statistics;      // sums over local or distributed samples
  Buffer<std::int32_t> rows;       // local samples, node by node
  Buffer<double> scores;           // (K, n) along the ridge directions, in the order of rows
  LeftOut left_out;
  double mean_weight = 1.0;        // of a sample of weight 1: its mean curvature
  bool root_has_moments = true;    // under the ridge criterion: if it has as many samples as features, by number or by weight

  index_t n_rows() const { return rows.size(); }
  NodeRows rows_of(const OpenNode& node) const { return {rows.data() + node.begin, node.size}; }
  RidgeOptions ridge_options() const { return {params.alpha, params.fit_intercept, mean_weight}; }

  // The dual needs no moments, but the ridge criterion does: it keeps them for all nodes except a
  // root with too few samples.
  bool is_dual(const OpenNode& node) const {
    return params.ridge_criterion ? node.depth == 0 && !root_has_moments : node.size < data.n_features;
  }
  // Whether depth and size allow a split.
  bool is_large_enough(const OpenNode& node) const {
    return node.depth < params.max_depth && node.size >= params.min_samples_split &&
           node.size / 2 >= params.min_samples_leaf &&
           !(params.ridge_criterion && is_dual(node));
  }
  bool leaves_enough(const OpenNode& node, index_t n_left) const {
    return n_left >= params.min_samples_leaf && node.size - n_left >= params.min_samples_leaf;  // 1 at least
  }
  // Nor may a node with equal targets split, or under the ridge criterion one whose samples, counted by weight, are fewer
  // than the features: all cuts would fit equally well.
  bool may_split(const OpenNode& node) const {
    const double fewest = kAboutOne * mean_weight * static_cast<double>(data.n_features);
    return is_large_enough(node) && variance_of(node) > 0.0 &&
           !(params.ridge_criterion && node.moments.weight < fewest);
  }
  bool has_models() const { return fits_models(params); }
  bool needs_fit(const OpenNode& node) const {
    return params.ridge_leaves || (has_models() && is_large_enough(node));
  }

  std::vector<index_t> features_of(const OpenNode& node) const {
    return node.features.empty() ? all_columns(data.n_features) : node.features;
  }
  bool draws_features() const { return params.node_features.max_features < data.n_features; }
  bool has_sparse_directions() const {
    return params.max_coef < data.n_features || draws_features();
  }
  // Whether ridge directions are the principal ones of all outputs' models, not one a model.
  bool has_principal_directions() const {
    return data.n_outputs > kMostRidgeDirections && params.ridge_criterion && params.max_coef >= data.n_features &&
           searches(params, SplitKind::ridge);
  }
  // Whether a direction's scores are those of an output's model (`scores`).
  bool has_scores(const SplitInfo& candidate) const {
    return candidate.kind == SplitKind::ridge && !has_sparse_directions() && !has_principal_directions();
  }
  // The directions whose scores screening looks at, (d, C), beside those of curvature.
  const Matrix& screening_directions(const OpenNode& node) const {
    return has_principal_directions() ? node.directions[static_cast<index_t>(SplitKind::ridge)] : node.fit.coef;
  }
  // Whether only the most promising axes are tried.
  bool screens_axes() const {
    return searches(params, SplitKind::axis) && params.ridge_criterion &&
           params.n_screened < std::min(params.node_features.max_features, data.n_features);
  }
  // The directions of ridge splits, (d, K), and their intercepts, (K).
  const Matrix& ridge_directions(const OpenNode& node) const {
    return has_sparse_directions() ? node.sparse_ridge.coef : node.fit.coef;
  }
  const Vector& ridge_intercepts(const OpenNode& node) const {
    return has_sparse_directions() ? node.sparse_ridge.intercept : node.fit.intercept;
  }

  // Summed over outputs.
  double variance_of(const OpenNode& node) const {
    return node.moments.diagonal.tail(data.n_outputs).sum() / node.moments.weight;
  }
  // Of a sample's loss by a split, about.
  double typical_decrease(const OpenNode& node) const { return mean_weight * variance_of(node); }
  Vector target_mean(const OpenNode& node) const {
    return node.moments.mean.tail(data.n_outputs) + origin.tail(data.n_outputs);
  }
};

// The residual of a node's model in an output of one of its rows, which has this score, times the row's weight.
inline double weighted_residual(const TrainingData& data, const OpenNode& node, index_t row, index_t output, double score) {
  return data.weight_of(row) * (data.y[row * data.n_outputs + output] - node.fit.intercept[output] - score);
}

// Prepared by the ridge criterion once per node, for all its candidates.
struct ModelSearch {
  ChildModels models;
  RowMatrix products;  // of the node's samples, about models.origin
};

// A candidate of a node whose best cut is searched; `search` under the ridge criterion only.
struct CutTask {
  OpenNode* node;
  index_t candidate;
  const ModelSearch* search;

  SplitInfo& split() const { return node->candidates[candidate]; }
};

// A node, the candidate that splits it, and its children (left, right).
struct Split {
  OpenNode* node;
  index_t chosen;
  std::array<OpenNode, 2> children;
  bool accepted = true;

  const SplitInfo& info() const { return node->candidates[chosen]; }
  const Cut& cut() const { return info().cut; }
};

// The models of a split's leave-one-out test.
struct SplitModels {
  LeverageModel node;
  std::array<LeverageModel, 2> children;
};

// The directions concatenated on the path to a node's children: its models' scores are added, of a single target in half
// deviations, or by the paper's rule that of the split alone, which is along the ridge direction of an output.
Matrix ancestors_of_children(const GrowState& state, const OpenNode& node, index_t output = -1);

// How large the features of a node are, (d), as they came: prediction takes these.
Vector feature_sizes(const GrowState& state, const OpenNode& node);

// Which cuts along a candidate count. O(1) for an axis, which takes the root's sizes: nodes have d.
CutRules cut_rules(const GrowState& state, const OpenNode& node, const SplitInfo& candidate);

// The direction of a candidate in the raw features, (d).
Vector direction_of(const GrowState& state, const OpenNode& node, const SplitInfo& candidate);

}  // namespace fctree::oblique
