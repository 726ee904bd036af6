// The steps of shard.hpp on plain arrays, as the bindings have them.
#pragma once

#include <vector>

#include "boosting/feature_matrix.hpp"
#include "boosting/shard.hpp"

namespace fctree {

// The features as all shards have them.
struct ShardShape {
  std::vector<index_t> n_cuts;            // thresholds of each feature
  std::vector<std::uint8_t> has_missing;  // in any shard
};
using ShardUnits = ChannelUnits;

struct ShardView {
  const std::uint8_t* codes;
  const double* gradient;
  const double* weight;
  LeafAssignment leaves;
  index_t n_samples;
};

// A shard's part of what a round starts with: the sum of its losses, exponents of w g
// (n_outputs, 2048), the largest exponents of w h for each output and of w g^2.
struct ShardEvaluation {
  double loss;
  std::vector<std::int64_t> counts;
  std::vector<int> hessian_largest;
  int square_largest;
};

// The largest exponents of w g and w h for each output, and the number of rows, of all shards.
struct SumScales {
  std::vector<int> gradient;
  std::vector<int> hessian;
  index_t n_samples;
};

struct ChoiceTask {
  std::vector<const std::int64_t*> counted;
  std::vector<LevelSplit> above;
  const std::int8_t* monotone;
  index_t iteration;
  double gradient_rms;
  double total_weight;
};

struct ChosenLevel {
  bool has_split;
  LevelSplit split;
  std::vector<std::uint8_t> smaller_is_right;
};

void bin_shard(const FeatureMatrix& x, const double* thresholds, const index_t* offsets,
               std::uint8_t* codes, std::uint8_t* has_missing, const Execution& execution);
double fixed_value(int largest_exponent, index_t n, std::int64_t high, std::int64_t low);
index_t level_cells(const ShardShape& shape, index_t n_channels, index_t n_counted);
void count_shard(const ShardShape& shape, const ShardUnits& units, const ShardView& view,
                 const std::vector<std::uint8_t>& smaller_is_right, std::int64_t* out,
                 const Execution& execution);
void descend_shard(const ShardShape& shape, const LevelSplit& split, const ShardView& view,
                   std::uint16_t* leaf, const Execution& execution);
ChosenLevel choose_from_counts(const ShardShape& shape, const ShardUnits& units,
                               const ChoiceTask& task, const BoostingParams& params,
                               const Execution& execution);
ShardEvaluation evaluate_shard(LossKind loss, const ScoredSamples& samples,
                               const Derivatives& derivatives, const Execution& execution);
LeafSums sum_shard(const ScoredSamples& samples, const Derivatives& derivatives,
                   const LeafAssignment& leaves, const SumScales& scales,
                   const Execution& execution);
// Leaf values, monotone where `directions` says so, times the learning rate.
std::vector<double> leaf_step(LossKind loss, const LeafSums& sums, const SumScales& scales,
                              const BoostingParams& params, const std::int8_t* directions,
                              const std::vector<LevelSplit>& splits,
                              const std::vector<std::uint8_t>& parts_missing);
void mean_baseline(LossKind loss, const double* means, index_t n_outputs, double* out);
bool has_mean_baseline(LossKind loss);
void draw_bag(std::uint64_t seed, double subsample, index_t iteration, index_t begin, index_t n,
              std::uint8_t* in_bag);

}  // namespace fctree
