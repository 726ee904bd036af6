#include "oblique/split_search/screening.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oblique/score_rows.hpp"

namespace fctree::oblique {

namespace {

// The columns that do not depend on the feature, one row per sample of the node.
RowMatrix shared_columns(const GrowState& state, const OpenNode& node, const Vector& weight) {
  const index_t n_outputs = state.data.n_outputs;
  const index_t n_curvature = node.curvature().cols();
  RowMatrix columns(node.size, 1 + n_outputs + n_curvature);
  columns.col(0).setOnes();
  for (index_t k = 0; k < n_outputs; ++k)
    columns.col(1 + k) =
        VectorView(state.scores.data() + k * state.n_rows() + node.begin, node.size);
  std::vector<double> scores(node.size);
  for (index_t c = 0; c < n_curvature; ++c) {
    score_rows(state, node, {SplitKind::curvature, c}, state.rows_of(node), scores.data());
    columns.col(1 + n_outputs + c) = VectorView(scores.data(), node.size);
  }
  for (index_t c = 1; c < columns.cols(); ++c) {
    auto column = columns.col(c);
    column.array() -= weight.dot(column) / node.moments.weight;
    const double size = std::sqrt(weight.dot(column.cwiseAbs2()) / node.moments.weight);
    if (size > 0.0) column /= size;
  }
  return columns;
}

// Residuals of the node's fit times the weights, (n, K).
RowMatrix weighted_residuals(const GrowState& state, const OpenNode& node) {
  const TrainingData& data = state.data;
  RowMatrix residuals(node.size, data.n_outputs);
  for (index_t k = 0; k < data.n_outputs; ++k) {
    const double* scores = state.scores.data() + k * state.n_rows() + node.begin;
    for (index_t i = 0; i < node.size; ++i) {
      const index_t row = state.rows[node.begin + i];
      const double weight = data.weight_of(row);
      residuals(i, k) =
          weight * (data.y[row * data.n_outputs + k] - node.fit.intercept[k] - scores[i]);
    }
  }
  return residuals;
}

// Features that are read together: a row's lie side by side.
constexpr index_t kFeaturesAtOnce = 8;

ScreenedRows rows_of_node(const GrowState& state, const OpenNode& node) {
  Vector weight = Vector::Ones(node.size);
  if (state.data.weight != nullptr)
    for (index_t i = 0; i < node.size; ++i)
      weight[i] = state.data.weight[state.rows[node.begin + i]];
  return screened_rows(shared_columns(state, node, weight), weighted_residuals(state, node),
                       weight);
}

}  // namespace

ScreenedRows screened_rows(const RowMatrix& columns, RowMatrix residuals, const Vector& weight) {
  const index_t n = columns.rows(), n_shared = columns.cols(), n_outputs = residuals.cols();
  const index_t n_sums = (n_shared + 1) * n_outputs;
  ScreenedRows rows = {RowMatrix::Zero(n, screening_width(n_shared + 1, n_outputs)),
                       std::move(residuals), n_shared};
  for (index_t i = 0; i < n; ++i) {
    for (index_t k = 0; k < n_outputs; ++k)
      rows.terms.row(i).segment(k * n_shared, n_shared) = rows.residuals(i, k) * columns.row(i);
    rows.terms(i, n_sums) = weight[i];
  }
  return rows;
}

double promise_of(const RowMatrix& bins, index_t n_sums) {
  const double total = bins.col(n_sums).sum();
  Vector left = Vector::Zero(n_sums + 1);
  double best = 0.0;
  for (index_t b = 0; b + 1 < kScreeningBins; ++b) {
    left += bins.row(b).head(n_sums + 1).transpose();
    const double share = left[n_sums] / total;
    if (!(share > 0.0 && share < 1.0)) continue;
    best = std::max(best, left.head(n_sums).squaredNorm() / (share * (1.0 - share)));
  }
  return best;
}

void add_to_bins(const ScreenedRows& rows, const double* x, const FeatureRange& range,
                 double* bins) {
  const index_t width = rows.terms.cols(), n_outputs = rows.residuals.cols();
  const ScreenedFeature feature = {x, range.lowest, kScreeningBins / range.width, range.mean,
                                 1.0 / range.spread};
  Vector own = Vector::Zero(kScreeningBins * n_outputs);
  const BinTerms terms = {rows.terms.data(), width, rows.residuals.data(), n_outputs};
  dense_kernels().add_to_bins(feature, terms, rows.terms.rows(), bins, own.data());
  for (index_t b = 0; b < kScreeningBins; ++b)
    for (index_t k = 0; k < n_outputs; ++k)
      bins[b * width + rows.n_shared * n_outputs + k] += own[b * n_outputs + k];
}

FeatureRange range_of(const GrowState& state, const OpenNode& node, index_t feature,
                      double lowest, double highest) {
  return {lowest, highest - lowest, node.moments.mean[feature] + state.origin[feature],
          std::sqrt(node.moments.diagonal[feature] / node.moments.weight)};
}

bool may_screen(const OpenNode& node, index_t feature) {
  return node.features.empty() ||
         std::binary_search(node.features.begin(), node.features.end(), feature);
}

namespace {

// Those of features first .. last - 1.
void find_promises(const GrowState& state, const OpenNode& node,
                          const ScreenedRows& screened, Vector& promise, index_t first,
                          index_t last) {
  const NodeRows rows = state.rows_of(node);
  const index_t n_columns = screened.n_shared + 1, d = state.data.n_features;
  RowMatrix bins(kScreeningBins, screening_width(n_columns, state.data.n_outputs));
  Matrix x(node.size, last - first);
  for (index_t i = 0; i < node.size; ++i)
    for (index_t j = first; j < last; ++j) x(i, j - first) = state.data.x[rows.rows[i] * d + j];
  for (index_t j = first; j < last; ++j) {
    if (!may_screen(node, j)) continue;
    const auto own = x.col(j - first);
    const FeatureRange range = range_of(state, node, j, own.minCoeff(), own.maxCoeff());
    if (!range.can_be_cut()) continue;
    bins.setZero();
    add_to_bins(screened, own.data(), range, bins.data());
    promise[j] = promise_of(bins, n_columns * state.data.n_outputs);
  }
}

}  // namespace

std::vector<Vector> promises_of(const GrowState& state, const std::vector<OpenNode*>& nodes) {
  const auto n_nodes = static_cast<index_t>(nodes.size());
  const index_t d = state.data.n_features;
  std::vector<ScreenedRows> screened(n_nodes);
  std::vector<Vector> promise(n_nodes, Vector::Zero(d));
  parallel_for(state.execution, n_nodes,
               [&](index_t i) { screened[i] = rows_of_node(state, *nodes[i]); });
  const index_t n_blocks = (d + kFeaturesAtOnce - 1) / kFeaturesAtOnce;
  parallel_for(state.execution, n_nodes * n_blocks, [&](index_t task) {
    const index_t i = task / n_blocks, first = task % n_blocks * kFeaturesAtOnce;
    const index_t last = std::min(first + kFeaturesAtOnce, d);
    find_promises(state, *nodes[i], screened[i], promise[i], first, last);
  });
  return promise;
}

std::vector<index_t> most_promising(const GrowState& state, const OpenNode& node,
                                    const Vector& promise) {
  std::vector<index_t> features = node.features;
  if (features.empty()) {
    features.resize(state.data.n_features);
    std::iota(features.begin(), features.end(), 0);
  }
  std::stable_sort(features.begin(), features.end(),
                   [&](index_t a, index_t b) { return promise[a] > promise[b]; });
  features.resize(std::min<std::size_t>(state.params.n_screened, features.size()));
  std::sort(features.begin(), features.end());
  return features;
}

}  // namespace fctree::oblique
