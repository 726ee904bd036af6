#include "oblique/split_search/screening.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "ridge/row_blocks.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kFeaturesAtOnce = 8;  // read together: a row's lie side by side
constexpr index_t kFewestRows = 1024;  // of a part
constexpr index_t kRowsAtOnce = 512, kTermsAtOnce = 256;

// Whether the node may split on this feature at all.
bool may_screen(const OpenNode& node, index_t feature) {
  return node.features.empty() ||
         std::binary_search(node.features.begin(), node.features.end(), feature);
}

}  // namespace

ScreeningPlan screening_plan(const GrowState& state, const OpenNode& node, index_t n_directions) {
  const Matrix& ridge = state.screening_directions(node);
  const index_t d = state.data.n_features, n_ridge = ridge.cols();
  ScreeningPlan plan = {Matrix::Zero(d, n_directions), Vector::Zero(n_directions),
                        Vector::Ones(n_directions), {}};
  plan.direction.leftCols(n_ridge) = ridge;
  if (node.curvature().cols() > 0)
    plan.direction.middleCols(n_ridge, node.curvature().cols()) = node.curvature();
  const Matrix scatter = node.moments.scatter.selfadjointView<Eigen::Upper>();
  const Vector mean = (node.moments.mean + state.origin).head(d);
  for (index_t c = 0; c < n_directions; ++c) {
    const Vector direction = plan.direction.col(c);
    const double variance = direction.dot(scatter * direction) / node.moments.weight;
    plan.centre[c] = direction.dot(mean);
    if (variance > 0.0) plan.scale[c] = std::sqrt(variance);
  }
  return plan;
}

ScreenedRows screened_rows(const TrainingData& data, const NodeRows& rows,
                           const ScreeningPlan& plan, RowMatrix residuals) {
  const index_t n_shared = plan.n_columns() - 1;
  RowMatrix columns(rows.size, n_shared);
  columns.col(0).setOnes();
  Vector scores(rows.size);
  for (index_t c = 0; c + 1 < n_shared; ++c) {
    dense_kernels().project(select(data, rows), plan.direction.col(c).data(), 1, scores.data(), rows.size);
    columns.col(1 + c) = (scores.array() - plan.centre[c]) / plan.scale[c];
  }
  Vector weight(rows.size);
  for (index_t i = 0; i < rows.size; ++i) weight[i] = data.weight_of(rows.rows[i]);
  return {std::move(columns), std::move(residuals), std::move(weight)};
}

double promise_of(const RowMatrix& bins, index_t n_sums) {
  const Vector total = bins.leftCols(n_sums + 1).colwise().sum().transpose();
  Vector left = Vector::Zero(n_sums + 1);
  double best = 0.0;
  for (index_t b = 0; b + 1 < kScreeningBins; ++b) {
    left += bins.row(b).head(n_sums + 1).transpose();
    const double share = left[n_sums] / total[n_sums];
    if (!(share > 0.0 && share < 1.0)) continue;
    const double of_left = left.head(n_sums).squaredNorm(), of_right = (total - left).head(n_sums).squaredNorm();
    best = std::max(best, of_left / share + of_right / (1.0 - share));
  }
  return best;
}

namespace {

// Some outputs, and what they bring to a bin: of the last one room for the feature's own column and the weight too.
struct TermRange {
  index_t first, last;
  index_t n_sums;
  bool is_end;
};

// The shared columns times the residuals of these outputs, from row `begin` on.
void find_terms(const ScreenedRows& rows, index_t begin, const TermRange& range, Eigen::Map<RowMatrix> terms) {
  const index_t n_shared = rows.columns.cols();
  terms.setZero();
  for (index_t i = 0; i < terms.rows(); ++i) {
    for (index_t k = range.first; k < range.last; ++k)
      terms.row(i).segment((k - range.first) * n_shared, n_shared) =
          rows.residuals(begin + i, k) * rows.columns.row(begin + i);
    if (range.is_end) terms(i, range.n_sums - 1) = rows.weight[begin + i];
  }
}

}  // namespace

// Of many outputs the terms are far more numbers than the table: rows and outputs are taken a part at a time, so that
// these and the bins that they are added to stay in a core's cache. Each bin adds its rows in their order.
void add_to_bins(const ScreenedRows& rows, const Matrix& x, const FeatureRange* ranges, double* bins) {
  const index_t n_shared = rows.columns.cols(), n_outputs = rows.residuals.cols();
  const index_t width = screening_width(n_shared + 1, n_outputs), size = kScreeningBins * width;
  const index_t n_features = x.cols(), at_once = std::max<index_t>(1, kTermsAtOnce / n_shared);
  const index_t most = whole_vectors(at_once * n_shared + n_outputs + 1);
  const std::unique_ptr<double[]> room(new double[std::min(kRowsAtOnce, x.rows()) * most]);
  Matrix own = Matrix::Zero(kScreeningBins * n_outputs, n_features);
  for (index_t begin = 0; begin < x.rows(); begin += kRowsAtOnce) {
    const index_t n_rows = std::min(kRowsAtOnce, x.rows() - begin);
    for (index_t first = 0; first < n_outputs; first += at_once) {
      const index_t last = std::min(first + at_once, n_outputs), n_own = last == n_outputs ? n_outputs : 0;
      const index_t n_sums = (last - first) * n_shared + (n_own > 0 ? n_own + 1 : 0);
      const Eigen::Map<RowMatrix> terms(room.get(), n_rows, whole_vectors(n_sums));
      find_terms(rows, begin, {first, last, n_sums, n_own > 0}, terms);
      RowMatrix part = RowMatrix::Zero(kScreeningBins, terms.cols());
      for (index_t j = 0; j < n_features; ++j) {
        if (!ranges[j].can_be_cut()) continue;
        auto of_part = Eigen::Map<RowMatrix>(bins + j * size, kScreeningBins, width).middleCols(first * n_shared, n_sums);
        part.leftCols(n_sums) = of_part;
        const ScreenedFeature feature = {x.col(j).data() + begin, ranges[j].lowest, kScreeningBins / ranges[j].width,
                                         ranges[j].mean, 1.0 / ranges[j].spread};
        const BinTerms of_rows = {terms.data(), terms.cols(), rows.residuals.row(begin).data(), n_own};
        dense_kernels().add_to_bins(feature, of_rows, n_rows, part.data(), own.col(j).data());
        of_part = part.leftCols(n_sums);
      }
    }
  }
  for (index_t j = 0; j < n_features; ++j)
    for (index_t b = 0; b < kScreeningBins; ++b)
      for (index_t k = 0; k < n_outputs; ++k)
        bins[j * size + b * width + n_shared * n_outputs + k] += own(b * n_outputs + k, j);
}

void widen_ranges(const TrainingData& data, const NodeRows& rows, double* largest) {
  const index_t d = data.n_features;
  Eigen::Map<Vector> below(largest, d), above(largest + d, d);
  for (index_t i = 0; i < rows.size; ++i) {
    const VectorView x(data.x + rows.rows[i] * d, d);
    below = below.cwiseMax(-x);
    above = above.cwiseMax(x);
  }
}

std::vector<FeatureRange> ranges_of(const GrowState& state, const OpenNode& node,
                                    const double* largest) {
  const index_t d = state.data.n_features;
  std::vector<FeatureRange> ranges(d, FeatureRange{0.0, 0.0, 0.0, 0.0});
  for (index_t j = 0; j < d; ++j) {
    const FeatureRange range = {-largest[j], largest[d + j] + largest[j],
                                node.moments.mean[j] + state.origin[j],
                                std::sqrt(node.moments.diagonal[j] / node.moments.weight)};
    if (may_screen(node, j) && range.can_be_cut()) ranges[j] = range;
  }
  return ranges;
}

namespace {

// The columns and terms of some rows of a node.
struct ScreenedPart {
  Vector largest;  // (2 d): of -x and of x
  ScreenedRows rows;
};

// Residuals of the node's fit times the weights, (n, K).
RowMatrix weighted_residuals(const GrowState& state, const OpenNode& node, const RowParts::Part& part) {
  const TrainingData& data = state.data;
  const NodeRows& rows = part.rows;
  RowMatrix residuals(rows.size, data.n_outputs);
  for (index_t k = 0; k < data.n_outputs; ++k) {
    const double* scores = state.scores.data() + k * state.n_rows() + node.begin + part.begin;
    for (index_t i = 0; i < rows.size; ++i)
      residuals(i, k) = weighted_residual(data, node, rows.rows[i], k, scores[i]);
  }
  return residuals;
}

// The bins of features first .. last - 1, one after the other.
RowMatrix bins_of_part(const GrowState& state, const NodeRows& rows, const ScreenedRows& screened,
                       const ScreeningPlan& plan, index_t first, index_t last) {
  const index_t d = state.data.n_features;
  const index_t width = screening_width(plan.n_columns(), state.data.n_outputs);
  RowMatrix bins = RowMatrix::Zero((last - first) * kScreeningBins, width);
  Matrix x(rows.size, last - first);
  for (index_t i = 0; i < rows.size; ++i)
    for (index_t j = first; j < last; ++j) x(i, j - first) = state.data.x[rows.rows[i] * d + j];
  add_to_bins(screened, x, plan.range.data() + first, bins.data());
  return bins;
}

}  // namespace

std::vector<Vector> promises_of(const GrowState& state, const std::vector<OpenNode*>& nodes) {
  const auto n_nodes = static_cast<index_t>(nodes.size());
  const index_t d = state.data.n_features, n_outputs = state.data.n_outputs;
  std::vector<ScreeningPlan> plans(n_nodes);
  std::vector<NodeRows> rows;
  for (index_t i = 0; i < n_nodes; ++i) {
    rows.push_back(state.rows_of(*nodes[i]));
    plans[i] = screening_plan(state, *nodes[i], state.screening_directions(*nodes[i]).cols() + nodes[i]->curvature().cols());
  }
  // Parts so large that their bins take no more memory than their rows.
  const index_t n_ridge = state.has_principal_directions() ? kMostRidgeDirections : n_outputs;
  const index_t width = screening_width(2 + n_ridge + state.params.n_curvature, n_outputs);
  const RowParts parts(rows, std::max(kFewestRows, kScreeningBins * width));
  const index_t n_parts = parts.n();
  std::vector<ScreenedPart> screened(n_parts);
  const index_t n_blocks = count_parts(d, kFeaturesAtOnce);
  std::vector<RowMatrix> bins(n_parts * n_blocks);
  std::vector<Vector> promise(n_nodes, Vector::Zero(d));
  const auto features_of = [&](index_t block) {
    return std::make_pair(block * kFeaturesAtOnce, std::min((block + 1) * kFeaturesAtOnce, d));
  };
  const auto screen = [&](index_t p) {
    const auto& [i, begin, of_part] = parts[p];
    screened[p].largest = Vector::Constant(2 * d, -std::numeric_limits<double>::infinity());
    widen_ranges(state.data, of_part, screened[p].largest.data());
    screened[p].rows = screened_rows(state.data, of_part, plans[i], weighted_residuals(state, *nodes[i], parts[p]));
  };
  const auto join_ranges = [&](index_t i) {
    Vector& largest = screened[parts.first(i)].largest;
    for (index_t p = parts.first(i) + 1; p < parts.first(i + 1); ++p)
      largest = largest.cwiseMax(screened[p].largest);
    plans[i].range = ranges_of(state, *nodes[i], largest.data());
  };
  const auto judge = [&](index_t i, index_t block, const RowMatrix& total) {
    const auto [first, last] = features_of(block);
    for (index_t j = first; j < last; ++j)
      if (plans[i].range[j].can_be_cut())
        promise[i][j] = promise_of(
            total.middleRows((j - first) * kScreeningBins, kScreeningBins),
            plans[i].n_columns() * n_outputs);
  };
  // Bins of many outputs are large: those of a node of one part are gone before the next one's.
  const auto has_parts = [&](index_t i) { return parts.first(i + 1) - parts.first(i) > 1; };
  const auto sum_bins = [&](index_t task) {
    const index_t p = task / n_blocks, i = parts[p].node;
    const auto [first, last] = features_of(task % n_blocks);
    RowMatrix found = bins_of_part(state, parts[p].rows, screened[p].rows, plans[i], first, last);
    if (has_parts(i))
      bins[task] = std::move(found);
    else
      judge(i, task % n_blocks, found);
  };
  const auto join_bins = [&](index_t task) {
    const index_t i = task / n_blocks, block = task % n_blocks;
    if (!has_parts(i)) return;
    RowMatrix& total = bins[parts.first(i) * n_blocks + block];
    for (index_t p = parts.first(i) + 1; p < parts.first(i + 1); ++p)
      total += bins[p * n_blocks + block];
    judge(i, block, total);
  };
  parallel_phases(state.execution, {{n_parts, screen},
                                    {n_nodes, join_ranges},
                                    {n_parts * n_blocks, sum_bins},
                                    {n_nodes * n_blocks, join_bins}});
  return promise;
}

std::vector<index_t> most_promising(const GrowState& state, const OpenNode& node,
                                    const Vector& promise) {
  std::vector<index_t> features = state.features_of(node);
  std::stable_sort(features.begin(), features.end(),
                   [&](index_t a, index_t b) { return promise[a] > promise[b]; });
  features.resize(std::min<std::size_t>(state.params.n_screened, features.size()));
  std::sort(features.begin(), features.end());
  return features;
}

}  // namespace fctree::oblique
