#include "oblique/screening.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oblique/score_rows.hpp"

namespace fctree {

namespace {

// The columns that do not depend on the feature, one row a sample of the node.
RowMatrix shared_columns(const GrowState& state, const OpenNode& node, const Vector& weight) {
  const index_t n_outputs = state.data.n_outputs;
  const index_t n_curvature = node.curvature.cols();
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
      const double weight = data.weight == nullptr ? 1.0 : data.weight[row];
      residuals(i, k) =
          weight * (data.y[row * data.n_outputs + k] - node.fit.intercept[k] - scores[i]);
    }
  }
  return residuals;
}

ScreenedRows screened_rows(const GrowState& state, const OpenNode& node) {
  Vector weight = Vector::Ones(node.size);
  if (state.data.weight != nullptr)
    for (index_t i = 0; i < node.size; ++i)
      weight[i] = state.data.weight[state.rows[node.begin + i]];
  return {shared_columns(state, node, weight), weighted_residuals(state, node), weight};
}

}  // namespace

double promise_of(const RowMatrix& bins) {
  const double total = bins.col(0).sum();
  Vector left = Vector::Zero(bins.cols());
  double best = 0.0;
  for (index_t b = 0; b + 1 < kScreeningBins; ++b) {
    left += bins.row(b).transpose();
    const double share = left[0] / total;
    if (!(share > 0.0 && share < 1.0)) continue;
    best = std::max(best, left.tail(left.size() - 1).squaredNorm() / (share * (1.0 - share)));
  }
  return best;
}

void add_to_bins(const ScreenedRows& rows, const double* x, const FeatureRange& range,
                 double* bins) {
  const index_t n_outputs = rows.residuals.cols();
  const index_t n_columns = rows.columns.cols() + 1;  // and the feature
  const index_t width = screening_width(n_columns, n_outputs);
  for (index_t i = 0; i < rows.columns.rows(); ++i) {
    const auto bin = static_cast<index_t>((x[i] - range.lowest) / range.width * kScreeningBins);
    double* sums = bins + std::min(bin, kScreeningBins - 1) * width;
    const double standardised = (x[i] - range.mean) / range.spread;
    *sums++ += rows.weight[i];
    for (index_t k = 0; k < n_outputs; ++k) {
      const double residual = rows.residuals(i, k);
      for (index_t c = 0; c + 1 < n_columns; ++c) *sums++ += residual * rows.columns(i, c);
      *sums++ += residual * standardised;
    }
  }
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

Vector promises_of(const GrowState& state, const OpenNode& node) {
  const TrainingData& data = state.data;
  const index_t d = data.n_features;
  const NodeRows rows = state.rows_of(node);
  const ScreenedRows screened = screened_rows(state, node);
  Vector promise = Vector::Zero(d);
  RowMatrix bins(kScreeningBins, screening_width(screened.columns.cols() + 1, data.n_outputs));
  Vector x(node.size);
  for (index_t j = 0; j < d; ++j) {
    if (!may_screen(node, j)) continue;
    for (index_t i = 0; i < node.size; ++i) x[i] = data.x[rows.rows[i] * d + j];
    const FeatureRange range = range_of(state, node, j, x.minCoeff(), x.maxCoeff());
    if (!range.can_be_cut()) continue;
    bins.setZero();
    add_to_bins(screened, x.data(), range, bins.data());
    promise[j] = promise_of(bins);
  }
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

}  // namespace fctree
