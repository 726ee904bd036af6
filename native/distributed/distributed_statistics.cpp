#include "distributed/distributed_statistics.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "oblique/score_rows.hpp"
#include "ridge/penalty_choice.hpp"
#include "ridge/row_blocks.hpp"

namespace fctree::distributed {

namespace {

[[noreturn]] void refuse_few_samples() {
  throw std::invalid_argument(
      "a node has fewer samples than features: a fit on partitions needs moments; grow fewer or "
      "larger nodes, or fit where the samples are");
}

index_t count(const std::vector<OpenNode*>& nodes) { return static_cast<index_t>(nodes.size()); }

}  // namespace

DistributedStatistics::DistributedStatistics(const TrainingData& data, const RowBlocks& blocks,
                                             const TrainingData& sample,
                                             const BinnedFeatures* bins)
    : data_(data), rows_(blocks, data.n_samples), sample_(sample), sample_rows_(1), bins_(bins) {
  for (index_t i = 0; i < sample.n_samples; ++i)
    if (sample.weight[i] > 0.0) sample_rows_[0].push_back(static_cast<std::int32_t>(i));
}

void DistributedStatistics::open(GrowState& state, OpenNode& root) {
  index_t n_used = 0;
  for (index_t i = 0; i < data_.n_samples; ++i) {
    rows_.node()[i] = data_.weight[i] > 0.0 ? 0 : -1;
    n_used += data_.weight[i] > 0.0;
  }
  rows_.group(1);
  root.size = add_up(state.execution.all, n_used);
  root.begin = 0;
  if (state.is_dual(root) && state.has_models()) refuse_few_samples();
  state.origin = shifts_of(state, {&root})[0];
  if (bins_ == nullptr) return;
  TermScale scale = term_scale(data_, state.execution);
  std::vector<double> largest(scale.exponent.begin(), scale.exponent.end());
  take_largest(state.execution.all, largest.data(), static_cast<index_t>(largest.size()));
  scale.exponent.assign(largest.begin(), largest.end());
  scale.n_samples = add_up(state.execution.all, data_.n_samples);
  scale.weight = 0.0;  // places do not compare theirs
  binned_ = {bins_->of_values.data(), bins_->bins.n_bins(), data_.n_features,
             1 + data_.n_outputs, fixed_terms(data_, scale, state.execution)};
  units_ = term_units(scale);
}

// Without rows of the sample: nothing is cut.
void DistributedStatistics::open_leaves(GrowState& state, const std::int32_t* leaf,
                                        const std::vector<OpenNode*>& leaves) {
  rows_.node().assign(leaf, leaf + data_.n_samples);
  rows_.group(count(leaves));
  sample_rows_.assign(leaves.size(), {});
  std::vector<index_t> sizes(leaves.size(), 0);
  for (const std::int32_t own : rows_.node())
    if (own >= 0) ++sizes[own];
  add_up(state.execution.all, sizes.data(), count(leaves));
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i]->begin = static_cast<index_t>(i);
    leaves[i]->size = sizes[i];
  }
  state.origin = shifts_of(state, {leaves[0]})[0];
}

// As in one place where all of a node's heaviest samples are in the sample; else close.
std::vector<Vector> DistributedStatistics::shifts_of(const GrowState& state, const std::vector<OpenNode*>& nodes) {
  std::vector<Vector> shifts(nodes.size());
  std::vector<OpenNode*> unknown;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeRows rows = sample_of(*nodes[i]);
    if (rows.size > 0)
      shifts[i] = heaviest_sample(sample_, rows);
    else
      unknown.push_back(nodes[i]);
  }
  if (unknown.empty()) return shifts;
  const std::vector<Vector> found = heaviest_of(state, unknown);
  std::size_t next = 0;
  for (Vector& shift : shifts)
    if (shift.size() == 0) shift = found[next++];
  return shifts;
}

// The first of each node's heaviest samples.
std::vector<Vector> DistributedStatistics::heaviest_of(const GrowState& state, const std::vector<OpenNode*>& nodes) {
  const index_t size = 1 + data_.n_features + data_.n_outputs;
  std::vector<double> own(nodes.size() * size, -1.0);  // the weight and the sample
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (index_t b = 0; b < rows_.blocks().n_here; ++b) {
      const NodeRows rows = rows_.rows(nodes[i]->begin, rows_.blocks().first + b);
      if (rows.size == 0) continue;
      const std::int32_t row = heaviest_row(data_, rows);
      double* found = own.data() + i * size;
      if (!(data_.weight[row] > found[0])) continue;
      found[0] = data_.weight[row];
      const Vector sample = heaviest_sample(data_, {&row, 1});
      std::copy(sample.begin(), sample.end(), found + 1);
    }
  const std::vector<double> all = gather(state.execution.all, own);
  std::vector<Vector> heaviest(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double* best = all.data() + i * size;
    for (const double* other = best; other < all.data() + all.size(); other += own.size())
      if (other[0] > best[0]) best = other;
    heaviest[i] = VectorView(best + 1, size - 1);
  }
  return heaviest;
}

std::vector<Moments> DistributedStatistics::full_moments(const GrowState& state, const std::vector<OpenNode*>& nodes) {
  const std::vector<Vector> shifts = shifts_of(state, nodes);
  const index_t height = packed_rows(data_.n_features), width = packed_width(data_.n_features, data_.n_outputs);
  const std::vector<double> sums = sum_blocks(
      rows_.blocks(), {count(nodes), height * width},
      [&](index_t i, index_t block, double* out) {
        add_products(data_, rows_.rows(nodes[i]->begin, block), data_.weight, shifts[i].data(), out);
      },
      state.execution);
  std::vector<Moments> moments(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const RowMatrixView products(sums.data() + i * height * width, height, width);
    moments[i] = moments_of_products(products, data_, shifts[i], state.origin);
  }
  return moments;
}

std::vector<Moments> DistributedStatistics::simple_moments(const GrowState& state,
                                                           const std::vector<OpenNode*>& nodes) {
  for (const OpenNode* node : nodes)
    if (state.is_dual(*node) && state.needs_fit(*node)) refuse_few_samples();
  std::vector<Vector> shifts = shifts_of(state, nodes);
  // Below the root, splits between bins ask nothing of the features but what is in the bins.
  TrainingData data = data_;
  if (!state.has_models() && nodes[0]->depth > 0) data.n_features = 0;
  const index_t used = data.n_features + data.n_outputs;
  for (Vector& shift : shifts) shift = shift.tail(used).eval();
  const std::vector<double> sums = sum_blocks(
      rows_.blocks(), {count(nodes), 1 + 2 * used},
      [&](index_t i, index_t block, double* out) {
        add_diagonal(data, rows_.rows(nodes[i]->begin, block), shifts[i].data(), out);
      },
      state.execution);
  std::vector<Moments> moments(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    moments[i] = moments_of_diagonal(sums.data() + i * (1 + 2 * used), shifts[i],
                                     state.origin.tail(used));
  return moments;
}

double DistributedStatistics::find_alpha(const GrowState& state, const OpenNode& root) {
  const SpectralFit fit = spectral_fit(root.moments, state.origin, state.params.fit_intercept);
  const std::vector<double> sums = sum_blocks(
      rows_.blocks(), {1, kGridSize},
      [&](index_t, index_t block, double* out) {
        const GridErrors errors = sum_grid_errors(data_, rows_.rows(root.begin, block), fit);
        for (int g = 0; g < kGridSize; ++g) out[g] += errors[g];
      },
      state.execution);
  return best_alpha(Eigen::Map<const GridErrors>(sums.data()));
}

SampleSums DistributedStatistics::sum_samples(const GrowState& state, const OpenNode& root) {
  const std::vector<double> sums = sum_blocks(
      rows_.blocks(), {1, 3},
      [&](index_t, index_t block, double* out) {
        const SampleSums own = ridge::sum_samples(data_, rows_.rows(root.begin, block), {});
        out[0] += own.number;
        out[1] += own.squared_weights;
        out[2] += own.count;
      },
      state.execution);
  return {sums[0], sums[1], sums[2]};
}

NodeRows DistributedStatistics::few_rows(const GrowState&, const OpenNode&) { refuse_few_samples(); }

// Weighted residuals (K, n_samples) of the rows of some nodes; other entries are not set.
std::vector<double> DistributedStatistics::residuals(const GrowState& state,
                                                     const std::vector<OpenNode*>& nodes) const {
  const index_t n_outputs = data_.n_outputs, n_nodes = count(nodes);
  std::vector<double> residuals(n_outputs * data_.n_samples);
  parallel_for(state.execution, rows_.blocks().n_here * n_nodes, [&](index_t t) {
    const OpenNode& node = *nodes[t % n_nodes];
    const NodeRows own = rows_.rows(node.begin, rows_.blocks().first + t / n_nodes);
    std::vector<double> scores(n_outputs * own.size);
    dense_kernels().project(select(data_, own), node.fit.coef.data(), n_outputs, scores.data(),
                            own.size);
    for (index_t k = 0; k < n_outputs; ++k)
      for (index_t at = 0; at < own.size; ++at) {
        const index_t row = own.rows[at];
        residuals[k * data_.n_samples + row] = weighted_residual(data_, node, row, k, scores[k * own.size + at]);
      }
  });
  return residuals;
}

std::vector<std::vector<Matrix>> DistributedStatistics::residual_scatter(
    const GrowState& state, const std::vector<OpenNode*>& nodes) {
  std::vector<std::vector<Matrix>> scatter(nodes.size());
  if (nodes.empty()) return scatter;
  std::vector<Vector> means;
  for (const OpenNode* node : nodes) means.push_back(node->moments.mean + state.origin);
  const index_t d = data_.n_features, n_outputs = data_.n_outputs;
  TrainingData features_alone = data_;
  features_alone.n_outputs = 0;
  const index_t height = packed_rows(d), width = packed_width(d, 0);
  const std::vector<double> factors = residuals(state, nodes);
  const std::vector<double> sums = sum_blocks(
      rows_.blocks(), {count(nodes) * n_outputs, height * width},
      [&](index_t item, index_t block, double* out) {
        const index_t i = item / n_outputs, k = item % n_outputs;
        add_products(features_alone, rows_.rows(nodes[i]->begin, block), factors.data() + k * data_.n_samples,
                     means[i].data(), out);
      },
      state.execution);
  const double* next = sums.data();
  for (std::vector<Matrix>& of_node : scatter)
    for (index_t k = 0; k < n_outputs; ++k, next += height * width)
      of_node.push_back(RowMatrixView(next, height, width).topLeftCorner(d, d));
  return scatter;
}

std::vector<ScreeningPlan> DistributedStatistics::screening_plans(
    const GrowState& state, const std::vector<OpenNode*>& nodes) {
  const index_t d = data_.n_features;
  index_t n_directions = 0;
  for (const OpenNode* node : nodes)
    n_directions = std::max(n_directions, state.screening_directions(*node).cols() + node->curvature().cols());
  std::vector<double> largest(nodes.size() * 2 * d, -std::numeric_limits<double>::infinity());
  parallel_for(state.execution, count(nodes), [&](index_t i) {
    for (index_t b = 0; b < rows_.blocks().n_here; ++b)
      widen_ranges(data_, rows_.rows(nodes[i]->begin, rows_.blocks().first + b),
                   largest.data() + i * 2 * d);
  });
  take_largest(state.execution.all, largest.data(), static_cast<index_t>(largest.size()));
  std::vector<ScreeningPlan> plans;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    plans.push_back(screening_plan(state, *nodes[i], n_directions));
    plans[i].range = ranges_of(state, *nodes[i], largest.data() + i * 2 * d);
  }
  return plans;
}

std::vector<Vector> DistributedStatistics::promises(const GrowState& state, const std::vector<OpenNode*>& nodes) {
  std::vector<Vector> found(nodes.size(), Vector::Zero(data_.n_features));
  if (nodes.empty()) return found;
  const index_t d = data_.n_features, n_outputs = data_.n_outputs;
  const std::vector<ScreeningPlan> plans = screening_plans(state, nodes);
  const std::vector<double> factors = residuals(state, nodes);
  const index_t n_sums = plans[0].n_columns() * n_outputs;
  const index_t width = screening_width(plans[0].n_columns(), n_outputs);
  const index_t size = kScreeningBins * width;
  const auto add_bins = [&](index_t i, index_t block, double* out) {
    const NodeRows own = rows_.rows(nodes[i]->begin, block);
    if (own.size == 0) return;
    RowMatrix own_residuals(own.size, n_outputs);
    for (index_t at = 0; at < own.size; ++at)
      for (index_t k = 0; k < n_outputs; ++k)
        own_residuals(at, k) = factors[k * data_.n_samples + own.rows[at]];
    const ScreenedRows screened = screened_rows(data_, own, plans[i], std::move(own_residuals));
    Matrix x(own.size, d);
    for (index_t at = 0; at < own.size; ++at) x.row(at) = VectorView(data_.x + own.rows[at] * d, d).transpose();
    add_to_bins(screened, x, plans[i].range.data(), out);
  };
  const std::vector<double> sums =
      sum_blocks(rows_.blocks(), {count(nodes), d * size}, add_bins, state.execution);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (index_t j = 0; j < d; ++j)
      if (plans[i].range[j].can_be_cut())
        found[i][j] = promise_of(
            RowMatrixView(sums.data() + (i * d + j) * size, kScreeningBins, width), n_sums);
  return found;
}

void DistributedStatistics::part(GrowState& state, std::vector<Split>& splits) {
  const index_t n_splits = static_cast<index_t>(splits.size());
  std::vector<std::vector<std::int32_t>> sides(2 * splits.size());
  std::vector<std::int32_t> node(data_.n_samples, -1);
  // Calls take(row, goes_left) for rows of these data that are in a split node.
  const auto part_rows = [&](const TrainingData& data, const NodeRows& rows, const Split& split,
                             const auto& take) {
    std::vector<double> scores(rows.size);
    score_rows(data, rows, split.info(), direction_of(state, *split.node, split.info()), scores.data());
    for (index_t at = 0; at < rows.size; ++at)
      take(rows.rows[at], scores[at] <= split.cut().threshold);
  };
  parallel_for(state.execution, rows_.blocks().n_here * n_splits, [&](index_t t) {
    const index_t i = t % n_splits;
    const NodeRows own = rows_.rows(splits[i].node->begin, rows_.blocks().first + t / n_splits);
    part_rows(data_, own, splits[i], [&](std::int32_t row, bool goes_left) {
      node[row] = static_cast<std::int32_t>(2 * i + (goes_left ? 0 : 1));
    });
  });
  for (index_t i = 0; i < n_splits; ++i) {
    part_rows(sample_, sample_of(*splits[i].node), splits[i],
              [&](std::int32_t row, bool goes_left) {
                sides[2 * i + (goes_left ? 0 : 1)].push_back(row);
              });
    for (index_t side = 0; side < 2; ++side) splits[i].children[side].begin = 2 * i + side;
  }
  rows_.node() = std::move(node);
  rows_.group(2 * n_splits);
  sample_rows_ = std::move(sides);
}

std::vector<DecreaseSums> DistributedStatistics::decreases(const GrowState& state,
                                                           const std::vector<Split>& splits,
                                                           const std::vector<SplitModels>& models) {
  const index_t n_children = 2 * static_cast<index_t>(splits.size());
  const std::vector<double> sums = sum_blocks(
      rows_.blocks(), {n_children, DecreaseSums::size()},
      [&](index_t child, index_t block, double* out) {
        const Split& split = splits[child / 2];
        const NodeRows own = rows_.rows(split.children[child % 2].begin, block);
        if (own.size == 0) return;
        const SplitModels& of = models[child / 2];
        const DecreaseSums found = sum_decreases(data_, own, of.node, of.children[child % 2],
                                                 state.typical_decrease(*split.node));
        for (int i = 0; i < DecreaseSums::size(); ++i) out[i] += found.data()[i];
      },
      state.execution);
  std::vector<DecreaseSums> totals(splits.size());
  for (index_t child = 0; child < n_children; ++child)
    totals[child / 2].add(sums.data() + DecreaseSums::size() * child);
  return totals;
}

}  // namespace fctree::distributed
