#include "oblique/screening.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oblique/split_search.hpp"

namespace fctree {

namespace {

constexpr index_t kBins = 32;

// The columns that do not depend on the feature, one row a sample of the node.
RowMatrix shared_columns(const GrowState& state, const OpenNode& node) {
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
  Vector weight = Vector::Ones(node.size);
  if (state.data.weight != nullptr)
    for (index_t i = 0; i < node.size; ++i)
      weight[i] = state.data.weight[state.rows[node.begin + i]];
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

// bins: (kBins, 1 + columns * K), the weight first.
double promise_of(const RowMatrix& bins) {
  const double total = bins.col(0).sum();
  Vector left = Vector::Zero(bins.cols());
  double best = 0.0;
  for (index_t b = 0; b + 1 < kBins; ++b) {
    left += bins.row(b).transpose();
    const double share = left[0] / total;
    if (!(share > 0.0 && share < 1.0)) continue;
    best = std::max(best, left.tail(left.size() - 1).squaredNorm() / (share * (1.0 - share)));
  }
  return best;
}

}  // namespace

std::vector<index_t> screen_axes(const GrowState& state, const OpenNode& node) {
  const TrainingData& data = state.data;
  const index_t d = data.n_features;
  const NodeRows rows = state.rows_of(node);
  const RowMatrix columns = shared_columns(state, node);
  const RowMatrix residuals = weighted_residuals(state, node);
  const index_t n_columns = columns.cols() + 1;  // and the feature
  Vector promise = Vector::Zero(d);
  RowMatrix bins(kBins, 1 + n_columns * data.n_outputs);
  Vector x(node.size);
  for (index_t j = 0; j < d; ++j) {
    if (!node.features.empty() &&
        !std::binary_search(node.features.begin(), node.features.end(), j))
      continue;
    for (index_t i = 0; i < node.size; ++i) x[i] = data.x[rows.rows[i] * d + j];
    const double lowest = x.minCoeff();
    const double range = x.maxCoeff() - lowest;
    const double spread = std::sqrt(node.moments.diagonal[j] / node.moments.weight);
    if (!(range > 0.0) || !(spread > 0.0)) continue;
    const double mean = node.moments.mean[j] + state.origin[j];
    bins.setZero();
    for (index_t i = 0; i < node.size; ++i) {
      const auto bin = static_cast<index_t>((x[i] - lowest) / range * kBins);
      double* sums = bins.data() + std::min(bin, kBins - 1) * bins.cols();
      const double standardised = (x[i] - mean) / spread;
      *sums++ += data.weight == nullptr ? 1.0 : data.weight[rows.rows[i]];
      for (index_t k = 0; k < data.n_outputs; ++k) {
        const double residual = residuals(i, k);
        for (index_t c = 0; c + 1 < n_columns; ++c) *sums++ += residual * columns(i, c);
        *sums++ += residual * standardised;
      }
    }
    promise[j] = promise_of(bins);
  }
  std::vector<index_t> features = node.features;
  if (features.empty()) {
    features.resize(d);
    std::iota(features.begin(), features.end(), 0);
  }
  std::stable_sort(features.begin(), features.end(),
                   [&](index_t a, index_t b) { return promise[a] > promise[b]; });
  features.resize(std::min<std::size_t>(state.params.n_screened, features.size()));
  std::sort(features.begin(), features.end());
  return features;
}

}  // namespace fctree
