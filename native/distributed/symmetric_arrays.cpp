#include "distributed/symmetric_arrays.hpp"

#include <algorithm>

#include "symmetric/grow.hpp"
#include "symmetric/monotone.hpp"

namespace fctree::distributed {

namespace {

LeafSumScales leaf_scales(const SumScales& scales) {
  LeafSumScales out;
  for (const int e : scales.gradient) out.gradient.emplace_back(e, scales.n_samples);
  for (const int e : scales.hessian) out.hessian.emplace_back(e, scales.n_samples);
  return out;
}

}  // namespace

void bin_shard(const FeatureMatrix& x, const double* thresholds, const index_t* offsets,
               std::uint8_t* codes, std::uint8_t* has_missing, const Execution& execution) {
  Execution one_thread = execution;  // the groups of features are those of one thread
  one_thread.n_threads = 1;
  const BinnedMatrix binned(x, thresholds, offsets, one_thread);
  const std::uint8_t* found = binned.codes(binned.groups()[0]);
  std::copy(found, found + x.n_samples * x.n_features, codes);
  for (index_t f = 0; f < x.n_features; ++f) has_missing[f] = binned.has_missing(f);
}

double fixed_value(int largest_exponent, index_t n, std::int64_t high, std::int64_t low) {
  return FixedPoint(largest_exponent, n).value({high, low});
}

std::unique_ptr<Shard> make_shard(const ShardShape& shape, index_t n_samples,
                                  const std::uint8_t* codes, const double* weight,
                                  index_t max_depth) {
  const BinnedMatrix x(n_samples, shape.n_cuts, shape.has_missing, codes);
  return std::make_unique<Shard>(x, weight, max_depth);
}

std::unique_ptr<Chooser> make_chooser(const ShardShape& shape, const BoostingParams& params,
                                      const std::int8_t* monotone) {
  const BinnedMatrix x(0, shape.n_cuts, shape.has_missing, nullptr);
  return std::make_unique<Chooser>(x, params, monotone);
}

void find_shard_leaves(const Shard& shard, const std::vector<LevelSplit>& splits,
                       std::uint16_t* leaf, const Execution& execution) {
  with_team(execution, [&](const Execution& team) {
    find_leaves(shard.x(), splits, shard.tiles(), leaf, team);
  });
}

void add_step(const ShardStep& step, double* raw, index_t n_samples, const Execution& execution) {
  const Tiles tiles(n_samples);
  with_team(execution, [&](const Execution& team) {
    parallel_for(team, tiles.count(), [&](index_t tile) {
      for (index_t k = 0; k < step.n_outputs; ++k) {
        double* scores = raw + k * n_samples;
        const double origin = step.origin[k];
        for (index_t i = tiles.begin(tile); i < tiles.end(tile); ++i) {
          if (step.keep != 1.0) scores[i] = origin + step.keep * (scores[i] - origin);
          scores[i] += step.values[step.leaf[i] * step.n_outputs + k];
        }
      }
    });
  });
}

TwoWords sum_shard_squares(const ScoredSamples& s, const double* gradient, int largest_exponent,
                           index_t n_terms, const Execution& execution) {
  TwoWords sum;
  with_team(execution, [&](const Execution& team) {
    sum = sum_squares(gradient, s.weight, s.n_outputs, FixedPoint(largest_exponent, n_terms),
                      Tiles(s.n_samples), team);
  });
  return sum;
}

ShardEvaluation evaluate_shard(const LossChoice& choice, const ScoredSamples& s, const Derivatives& d,
                               const Execution& execution) {
  const std::unique_ptr<Loss> loss = make_loss(choice, s.n_outputs);
  const Tiles tiles(s.n_samples);
  const bool derive = d.gradient != nullptr;
  std::vector<double> losses(tiles.count());
  std::vector<ExponentCounts> counts(derive ? tiles.count() * s.n_outputs : 0);
  std::vector<int> hessians(tiles.count() * s.n_outputs, 0), squares(tiles.count(), 0);
  with_team(execution, [&](const Execution& team) {
    parallel_for(team, tiles.count(), [&](index_t tile) {
      const index_t begin = tiles.begin(tile), end = tiles.end(tile);
      losses[tile] = loss->evaluate(s, begin, end, derive ? &d : nullptr);
      for (index_t k = 0; derive && k < s.n_outputs; ++k) {
        const index_t first = k * s.n_samples, at = tile * s.n_outputs + k;
        const double* g = d.gradient + first;
        counts[at].add(begin, end, [&](index_t i) { return s.weight_of(i) * g[i]; });
        squares[tile] = std::max(squares[tile], largest_square(g, s.weight, begin, end));
        hessians[at] = largest_exponent(d.hessian == nullptr ? nullptr : d.hessian + first,
                                        s.weight, begin, end);
      }
    });
  });
  ShardEvaluation out = {0.0, {}, std::vector<int>(s.n_outputs, 0), 0};
  for (const double part : losses) out.loss += part;
  for (const int e : squares) out.square_largest = std::max(out.square_largest, e);
  for (index_t k = 0; derive && k < s.n_outputs; ++k) {
    ExponentCounts all;
    for (index_t tile = 0; tile < tiles.count(); ++tile) {
      all.merge(counts[tile * s.n_outputs + k]);
      out.hessian_largest[k] = std::max(out.hessian_largest[k], hessians[tile * s.n_outputs + k]);
    }
    out.counts.insert(out.counts.end(), all.counts().begin(), all.counts().end());
  }
  return out;
}

LeafSums sum_shard(const ScoredSamples& s, const Derivatives& d, const LeafAssignment& leaves,
                   const SumScales& scales, const Execution& execution) {
  LeafSums sums;
  with_team(execution, [&](const Execution& team) {
    sums = sum_leaves(s, d, leaves, leaf_scales(scales), Tiles(s.n_samples), team);
  });
  return sums;
}

std::vector<double> leaf_step(const LossChoice& choice, const LeafSums& sums, const SumScales& scales,
                              const BoostingParams& params, const std::int8_t* directions,
                              const std::vector<LevelSplit>& splits,
                              const std::vector<std::uint8_t>& parts_missing) {
  const auto n_outputs = static_cast<index_t>(scales.gradient.size());
  const std::unique_ptr<Loss> loss = make_loss(choice, n_outputs);
  LeafValues values = newton_leaf_values(*loss, sums, leaf_scales(scales), params.l2_leaf_reg);
  if (directions != nullptr) make_monotone(splits, directions, parts_missing, values);
  for (double& value : values.value) value *= params.learning_rate;
  return values.value;
}

void mean_baseline(const LossChoice& choice, const double* means, index_t n_outputs, double* out) {
  make_loss(choice, n_outputs)->baseline_of_means(means, n_outputs, out);
}

void draw_bag(std::uint64_t seed, double subsample, index_t iteration, index_t begin, index_t n,
              std::uint8_t* in_bag) {
  BoostingParams params{};
  params.seed = seed;
  params.subsample = subsample;
  draw_rows(params, iteration, begin, n, in_bag);
}

}  // namespace fctree::distributed
