#include "distributed/shard_steps.hpp"

#include <algorithm>
#include <limits>

#include "oblique/score_rows.hpp"
#include "ridge/dense.hpp"

namespace fctree::distributed {

namespace {

// products += those of some rows, factor by row number.
void add_products(const TrainingData& data, const NodeRows& rows, const double* factor,
                  const double* shift, double* products) {
  if (rows.size == 0) return;
  RowSelection selection = select(data, rows);
  selection.factor = factor;
  std::vector<double> tile(2 * kTileRows * packed_width(data.n_features, data.n_outputs));
  dense_kernels().add_products(selection, shift, tile.data(), products);
}

// Rows of a node in a block by the interval of thresholds that their scores are in.
class Intervals {
 public:
  Intervals(const TrainingData& data, const NodeRows& rows, const Directions& candidates,
            index_t candidate)
      : sorted_(rows.size), offsets_(candidates.n_thresholds + 2, 0) {
    const index_t n_thresholds = candidates.n_thresholds;
    const double* thresholds = candidates.threshold + candidate * n_thresholds;
    std::vector<double> scores(rows.size);
    score_rows(data, rows, candidates.direction + candidate * data.n_features,
               candidates.axis[candidate], scores.data());
    std::vector<index_t> interval(rows.size);
    for (index_t i = 0; i < rows.size; ++i) {
      interval[i] = interval_of(thresholds, n_thresholds, scores[i]);
      ++offsets_[interval[i] + 1];
    }
    for (index_t t = 0; t <= n_thresholds; ++t) offsets_[t + 1] += offsets_[t];
    std::vector<index_t> next(offsets_.begin(), offsets_.end() - 1);
    for (index_t i = 0; i < rows.size; ++i) sorted_[next[interval[i]]++] = rows.rows[i];
  }

  NodeRows rows(index_t interval) const {
    return {sorted_.data() + offsets_[interval], offsets_[interval + 1] - offsets_[interval]};
  }

 private:
  std::vector<std::int32_t> sorted_;
  std::vector<index_t> offsets_;
};

struct CandidateAt {
  const Directions& all;
  index_t at;
};

// Adds some rows of a node to the sums of the intervals of a candidate.
void add_cut_sums(const TrainingData& data, const NodeRows& rows, const CandidateAt& candidate,
                  const double* mean, double* out) {
  const auto& [all, at] = candidate;
  const double* thresholds = all.threshold + at * all.n_thresholds;
  std::vector<double> scores(rows.size);
  score_rows(data, rows, all.direction + at * data.n_features, all.axis[at], scores.data());
  for (index_t i = 0; i < rows.size; ++i) {
    const index_t row = rows.rows[i];
    const double weight = data.weight_of(row);
    double* sums =
        out + (2 + data.n_outputs) * interval_of(thresholds, all.n_thresholds, scores[i]);
    sums[0] += 1.0;
    sums[1] += weight;
    for (index_t k = 0; k < data.n_outputs; ++k)
      sums[2 + k] += weight * (data.y[row * data.n_outputs + k] - mean[k]);
  }
}

// Weighted residuals (K, n_samples) of the rows of some nodes; other entries are not set.
std::vector<double> weighted_residuals(const ShardRows& rows, const NodeList& nodes,
                                       const NodeModels& models, const Execution& execution) {
  const TrainingData& data = rows.data;
  const index_t n_outputs = data.n_outputs;
  std::vector<double> residuals(n_outputs * data.n_samples);
  parallel_for(execution, rows.blocks.n_blocks * nodes.size, [&](index_t t) {
    const index_t i = t % nodes.size;
    const NodeRows own = rows.rows_of(nodes.node[i], rows.blocks.first + t / nodes.size);
    std::vector<double> scores(n_outputs * own.size);
    dense_kernels().project(select(data, own), models.coef + i * n_outputs * data.n_features,
                            n_outputs, scores.data(), own.size);
    for (index_t k = 0; k < n_outputs; ++k)
      for (index_t at = 0; at < own.size; ++at) {
        const index_t row = own.rows[at];
        residuals[k * data.n_samples + row] =
            data.weight_of(row) * (data.y[row * n_outputs + k] -
                                    models.intercept[i * n_outputs + k] -
                                    scores[k * own.size + at]);
      }
  });
  return residuals;
}

}  // namespace

std::vector<double> shard_products(const ShardRows& rows, const NodeList& nodes,
                                   const double* shift, const Execution& execution) {
  const TrainingData& data = rows.data;
  const index_t used = data.n_features + data.n_outputs;
  const index_t width = packed_width(data.n_features, data.n_outputs);
  return sum_pieces(rows.blocks, {nodes.size, width * width},
                    [&](index_t i, index_t block, double* out) {
                      add_products(data, rows.rows_of(nodes.node[i], block), data.weight,
                                   shift + i * used, out);
                    },
                    execution);
}

std::vector<double> shard_diagonals(const ShardRows& rows, const NodeList& nodes,
                                    const double* shift, const Execution& execution) {
  const index_t used = rows.data.n_features + rows.data.n_outputs;
  return sum_pieces(rows.blocks, {nodes.size, 1 + 2 * used},
                    [&](index_t i, index_t block, double* out) {
                      add_diagonal(rows.data, rows.rows_of(nodes.node[i], block),
                                   shift + i * used, out);
                    },
                    execution);
}

std::vector<double> shard_residual_products(const ShardRows& rows, const NodeList& nodes,
                                            const double* mean, const NodeModels& models,
                                            const Execution& execution) {
  const TrainingData& data = rows.data;
  const index_t n_outputs = data.n_outputs;
  const index_t width = packed_width(data.n_features, n_outputs);
  const std::vector<double> residuals = weighted_residuals(rows, nodes, models, execution);
  return sum_pieces(rows.blocks, {nodes.size * n_outputs, width * width},
                    [&](index_t item, index_t block, double* out) {
                      const index_t i = item / n_outputs, k = item % n_outputs;
                      add_products(data, rows.rows_of(nodes.node[i], block),
                                   residuals.data() + k * data.n_samples,
                                   mean + i * (data.n_features + n_outputs), out);
                    },
                    execution);
}

std::vector<double> shard_ranges(const ShardRows& rows, const NodeList& nodes,
                                 const Execution& execution) {
  const TrainingData& data = rows.data;
  const index_t d = data.n_features;
  std::vector<double> largest(nodes.size * 2 * d, -std::numeric_limits<double>::infinity());
  parallel_for(execution, nodes.size, [&](index_t i) {
    double* own = largest.data() + i * 2 * d;
    for (index_t b = 0; b < rows.blocks.n_blocks; ++b) {
      const NodeRows of_block = rows.rows_of(nodes.node[i], rows.blocks.first + b);
      for (index_t at = 0; at < of_block.size; ++at) {
        const double* x = data.x + of_block.rows[at] * d;
        for (index_t j = 0; j < d; ++j) {
          own[j] = std::max(own[j], -x[j]);
          own[d + j] = std::max(own[d + j], x[j]);
        }
      }
    }
  });
  return largest;
}

std::vector<double> shard_heaviest(const ShardRows& rows, const NodeList& nodes) {
  const index_t used = rows.data.n_features + rows.data.n_outputs;
  std::vector<double> found(nodes.size * (1 + used), -1.0);
  for (index_t i = 0; i < nodes.size; ++i) {
    double* own = found.data() + i * (1 + used);
    for (index_t b = 0; b < rows.blocks.n_blocks; ++b) {
      const NodeRows of_block = rows.rows_of(nodes.node[i], rows.blocks.first + b);
      if (of_block.size == 0) continue;
      const std::int32_t row = heaviest_row(rows.data, of_block);
      if (!(rows.data.weight_of(row) > own[0])) continue;
      own[0] = rows.data.weight_of(row);
      const Vector sample = heaviest_sample(rows.data, {&row, 1});
      std::copy(sample.begin(), sample.end(), own + 1);
    }
  }
  return found;
}

std::vector<double> shard_screening(const ShardRows& rows, const NodeList& nodes,
                                    const NodeModels& models, const ScreeningPlan& plan,
                                    const Execution& execution) {
  const TrainingData& data = rows.data;
  const index_t d = data.n_features, n_outputs = data.n_outputs;
  const index_t n_columns = plan.n_columns;
  const index_t size = kScreeningBins * screening_width(n_columns + 2, n_outputs);
  const std::vector<double> residuals = weighted_residuals(rows, nodes, models, execution);
  return sum_pieces(rows.blocks, {nodes.size, d * size},
                    [&](index_t i, index_t block, double* out) {
    const NodeRows own = rows.rows_of(nodes.node[i], block);
    if (own.size == 0) return;
    RowMatrix columns(own.size, n_columns + 1), own_residuals(own.size, n_outputs);
    Vector scores(own.size), weight(own.size);
    columns.col(0).setOnes();
    for (index_t c = 0; c < n_columns; ++c) {
      score_rows(data, own, plan.direction + (i * n_columns + c) * d, -1, scores.data());
      columns.col(1 + c) =
          (scores.array() - plan.centre[i * n_columns + c]) / plan.scale[i * n_columns + c];
    }
    for (index_t at = 0; at < own.size; ++at) {
      const index_t row = own.rows[at];
      weight[at] = data.weight_of(row);
      for (index_t k = 0; k < n_outputs; ++k)
        own_residuals(at, k) = residuals[k * data.n_samples + row];
    }
    const ScreenedRows screened = screened_rows(columns, std::move(own_residuals), weight);
    for (index_t j = 0; j < d; ++j) {
      const FeatureRange& range = plan.range[i * d + j];
      if (!range.can_be_cut()) continue;
      for (index_t at = 0; at < own.size; ++at) scores[at] = data.x[own.rows[at] * d + j];
      add_to_bins(screened, scores.data(), range, out + j * size);
    }
  }, execution);
}

std::vector<double> shard_cut_products(const ShardRows& rows, const NodeList& nodes,
                                       const Directions& candidates, const double* shift,
                                       const Execution& execution) {
  const TrainingData& data = rows.data;
  const index_t used = data.n_features + data.n_outputs;
  const index_t width = packed_width(data.n_features, data.n_outputs);
  const index_t size = 1 + width * width;
  const index_t n_intervals = candidates.n_thresholds + 1;
  return sum_pieces(rows.blocks, {nodes.size, n_intervals * size},
                    [&](index_t i, index_t block, double* out) {
    const Intervals intervals(data, rows.rows_of(nodes.node[i], block), candidates, i);
    for (index_t t = 0; t < n_intervals; ++t, out += size) {
      const NodeRows own = intervals.rows(t);
      out[0] += static_cast<double>(own.size);
      add_products(data, own, data.weight, shift + i * used, out + 1);
    }
  }, execution);
}

std::vector<double> shard_cut_sums(const ShardRows& rows, const NodeList& nodes,
                                   const Directions& candidates, const double* mean,
                                   const Execution& execution) {
  // Some candidates together, which are of one node mostly: its rows in a block stay in the cache.
  constexpr index_t kTogether = 8;
  const index_t n_outputs = rows.data.n_outputs;
  const index_t size = (candidates.n_thresholds + 1) * (2 + n_outputs);
  const index_t n_groups = (nodes.size + kTogether - 1) / kTogether;
  const std::vector<double> padded = sum_pieces(
      rows.blocks, {n_groups, kTogether * size},
      [&](index_t group, index_t block, double* out) {
        const index_t end = std::min(nodes.size, (group + 1) * kTogether);
        for (index_t i = group * kTogether; i < end; ++i, out += size)
          add_cut_sums(rows.data, rows.rows_of(nodes.node[i], block), {candidates, i},
                       mean + i * n_outputs, out);
      },
      execution);
  std::vector<double> found;
  for (std::size_t p = 0; p < rows.blocks.pieces.size(); ++p) {
    const double* piece = padded.data() + p * n_groups * kTogether * size;
    found.insert(found.end(), piece, piece + nodes.size * size);
  }
  return found;
}

void shard_bin_sums(const ShardRows& rows, const NodeList& nodes, const BinnedSamples& samples,
                    std::int64_t* sums, const Execution& execution) {
  const index_t d = samples.n_features, n_groups = count_groups(d);
  parallel_for(execution, nodes.size * n_groups, [&](index_t task) {
    const index_t i = task / n_groups;
    const FeatureGroup group = group_at(task % n_groups, d);
    std::int64_t* out = sums + (i * d + group.first) * samples.feature_size();
    for (index_t b = 0; b < rows.blocks.n_blocks; ++b)
      add_bin_sums(samples, rows.rows_of(nodes.node[i], rows.blocks.first + b), group, out);
  });
}

void shard_part(const ShardRows& rows, const NodeList& splits, const Directions& cuts,
                std::int32_t* node, const Execution& execution) {
  const TrainingData& data = rows.data;
  std::fill(node, node + data.n_samples, -1);
  parallel_for(execution, rows.blocks.n_blocks * splits.size, [&](index_t t) {
    const index_t i = t % splits.size;
    const NodeRows own = rows.rows_of(splits.node[i], rows.blocks.first + t / splits.size);
    std::vector<double> scores(own.size);
    score_rows(data, own, cuts.direction + i * data.n_features, cuts.axis[i], scores.data());
    for (index_t at = 0; at < own.size; ++at)
      node[own.rows[at]] =
          static_cast<std::int32_t>(scores[at] <= cuts.threshold[i] ? 2 * i : 2 * i + 1);
  });
}

std::vector<double> shard_decreases(const ShardRows& rows, const NodeList& children,
                                    const std::vector<ChildJudgement>& judgements,
                                    const Execution& execution) {
  return sum_pieces(rows.blocks, {children.size, 3},
                    [&](index_t i, index_t block, double* out) {
    const NodeRows own = rows.rows_of(children.node[i], block);
    if (own.size == 0) return;
    const ChildJudgement& of = judgements[i];
    const DecreaseSums sums = sum_decreases(rows.data, own, of.node, of.child, of.unit);
    out[0] += sums.weight;
    out[1] += sums.total;
    out[2] += sums.squares;
  }, execution);
}

std::vector<double> shard_grid_errors(const ShardRows& rows, const SpectralFit& fit,
                                      const Execution& execution) {
  return sum_pieces(rows.blocks, {1, kGridSize}, [&](index_t, index_t block, double* out) {
    const GridErrors errors = sum_grid_errors(rows.data, rows.rows_of(0, block), fit);
    for (int g = 0; g < kGridSize; ++g) out[g] += errors[g];
  }, execution);
}

}  // namespace fctree::distributed
