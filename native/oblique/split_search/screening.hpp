// Screening of the axes that the ridge criterion evaluates exactly, at O(n d) per node.
//
// If splitting at a cut of feature j helps two linear models, then the residuals r of the
// node's fit, or their products with the regressors of those models, do not sum to zero on its
// sides. With the columns q = 1, the standardised scores of the node's ridge
// and curvature directions, and the standardised feature itself,
//     promise(j) = max over cuts of  sum |sum left of the cut of w q r|^2 / s + |sum right of it|^2 / (1 - s),
// s the share of the weight on the left. The scores catch interactions, which the feature
// alone does not show. Cuts are those between equal-width bins.
#pragma once

#include <vector>

#include "oblique/open_node.hpp"

namespace fctree::oblique {

using namespace ridge;

// Of a feature in a node.
struct FeatureRange {
  double lowest;
  double width;
  double mean;
  double spread;
  // Narrower ones have no finite number of bins per unit.
  bool can_be_cut() const { return width > 1e-300 && spread > 0.0; }
};

// The columns that screen a node's axes: scores along its ridge and curvature directions, standardised by
// its moments, and the ranges of its features.
struct ScreeningPlan {
  Matrix direction;  // (d, C)
  Vector centre;
  Vector scale;
  std::vector<FeatureRange> range;  // (d)

  index_t n_columns() const { return direction.cols() + 2; }
};
// Without ranges. n_directions: C, at least as many as the node has; others are 0.
ScreeningPlan screening_plan(const GrowState& state, const OpenNode& node, index_t n_directions);

// The terms of rows in bins: the columns but the feature's own (n, C + 1), the weights (n) and these times the
// residuals (n, K).
struct ScreenedRows {
  RowMatrix columns;
  RowMatrix residuals;
  Vector weight;
};
ScreenedRows screened_rows(const TrainingData& data, const NodeRows& rows,
                           const ScreeningPlan& plan, RowMatrix residuals);

// Sums of a bin: each shared column times each residual, the feature's own column times each, the
// weight, and zeros up to whole vectors.
constexpr index_t whole_vectors(index_t n) { return (n + 7) / 8 * 8; }
constexpr index_t screening_width(index_t n_columns, index_t n_outputs) {
  return whole_vectors(n_columns * n_outputs + 1);
}

// Adds samples with these values x (n, n_features) of some features to their bins, (n_features, kScreeningBins, width),
// but for those that cannot be cut.
void add_to_bins(const ScreenedRows& rows, const Matrix& x, const FeatureRange* ranges, double* bins);
// n_sums: columns times residuals.
double promise_of(const RowMatrix& bins, index_t n_sums);

// The least and the largest value of each feature, (2, d): of -x and of x, both the largest.
void widen_ranges(const TrainingData& data, const NodeRows& rows, double* largest);
// Those that the node may split on; others have no width.
std::vector<FeatureRange> ranges_of(const GrowState& state, const OpenNode& node,
                                    const double* largest);

// All promises (d) of nodes with local samples; their curvature directions are known.
// O(n d K (min(K, 8) + n_curvature + 2)).
std::vector<Vector> promises_of(const GrowState& state, const std::vector<OpenNode*>& nodes);

// The params.n_screened features of the largest promise, ascending.
std::vector<index_t> most_promising(const GrowState& state, const OpenNode& node,
                                    const Vector& promise);

}  // namespace fctree::oblique
