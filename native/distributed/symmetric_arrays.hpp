// The steps of shard.hpp on plain arrays, as the bindings have them.
#pragma once

#include <memory>
#include <vector>

#include "core/loss/registry.hpp"
#include "distributed/symmetric_shard.hpp"
#include "symmetric/feature_matrix.hpp"
#include "symmetric/leaf_values.hpp"

namespace fctree::distributed {

// The features as all shards have them.
struct ShardShape {
  std::vector<index_t> n_cuts;            // thresholds of each feature
  std::vector<std::uint8_t> has_missing;  // in any shard
};

// A shard's part of what a round starts with: the sum of its losses, exponents of w g
// (n_outputs, 2048), the largest exponents of w h for each output and of w g^2.
struct ShardEvaluation {
  double loss;
  std::vector<std::int64_t> counts;
  std::vector<int> hessian_largest;
  int square_largest;
};

// A tree's values as they are added to scores that are kept in part.
struct ShardStep {
  const std::uint16_t* leaf;
  const double* values;  // (n_leaves, n_outputs)
  const double* origin;  // (n_outputs,)
  index_t n_outputs;
  double keep;
};

// The largest exponents of w g and w h for each output, and the number of rows, of all shards.
struct SumScales {
  std::vector<int> gradient;
  std::vector<int> hessian;
  index_t n_samples;
};

void bin_shard(const FeatureMatrix& x, const double* thresholds, const index_t* offsets,
               std::uint8_t* codes, std::uint8_t* has_missing, const Execution& execution);
double fixed_value(int largest_exponent, index_t n, std::int64_t high, std::int64_t low);
std::unique_ptr<Shard> make_shard(const ShardShape& shape, index_t n_samples,
                                  const std::uint8_t* codes, const double* weight,
                                  index_t max_depth);
std::unique_ptr<Chooser> make_chooser(const ShardShape& shape, const BoostingParams& params,
                                      const std::int8_t* monotone);
// The leaf of each row below these splits.
void find_shard_leaves(const Shard& shard, const std::vector<LevelSplit>& splits,
                       std::uint16_t* leaf, const Execution& execution);
// raw <- origin + keep (raw - origin) + values[leaf]; raw (n_outputs, n), values (n_leaves, n_outputs).
void add_step(const ShardStep& step, double* raw, index_t n_samples, const Execution& execution);
TwoWords sum_shard_squares(const ScoredSamples& samples, const double* gradient,
                           int largest_exponent, index_t n_terms, const Execution& execution);
ShardEvaluation evaluate_shard(const LossChoice& loss, const ScoredSamples& samples,
                               const Derivatives& derivatives, const Execution& execution);
LeafSums sum_shard(const ScoredSamples& samples, const Derivatives& derivatives,
                   const LeafAssignment& leaves, const SumScales& scales,
                   const Execution& execution);
// Leaf values, monotone where `directions` says so, times the learning rate.
std::vector<double> leaf_step(const LossChoice& loss, const LeafSums& sums, const SumScales& scales,
                              const BoostingParams& params, const std::int8_t* directions,
                              const std::vector<LevelSplit>& splits,
                              const std::vector<std::uint8_t>& parts_missing);
void mean_baseline(const LossChoice& loss, const double* means, index_t n_outputs, double* out);
void draw_bag(std::uint64_t seed, double subsample, index_t iteration, index_t begin, index_t n,
              std::uint8_t* in_bag);

}  // namespace fctree::distributed
