#include "distributed/shard_boost.hpp"

#include <algorithm>

#include "oblique/feature_map.hpp"

namespace fctree::distributed {

using namespace oblique;

namespace {

// Rows of a block, numbered in this place.
struct BlockRange {
  index_t begin;
  index_t end;
};

BlockRange range_of(const ShardBlocks& blocks, index_t block, index_t n_samples) {
  const index_t begin = (block - blocks.first) * blocks.block_rows;
  return {begin, std::min(n_samples, begin + blocks.block_rows)};
}

}  // namespace

std::vector<double> shard_losses(const Loss& loss, const ScoredSamples& samples,
                                 const Derivatives* out, const ShardBlocks& blocks,
                                 const Execution& execution) {
  return sum_pieces(blocks, {1, 1}, [&](index_t, index_t block, double* sum) {
    const BlockRange rows = range_of(blocks, block, samples.n_samples);
    *sum += loss.evaluate(samples, rows.begin, rows.end, out);
  }, execution);
}

std::vector<double> shard_left_out_losses(const Loss& loss, const ScoredSamples& samples,
                                          const std::uint8_t* in_bag, const ShardBlocks& blocks,
                                          const Execution& execution) {
  return sum_pieces(blocks, {1, 1}, [&](index_t, index_t block, double* sum) {
    const BlockRange rows = range_of(blocks, block, samples.n_samples);
    for (index_t i = rows.begin; i < rows.end; ++i)
      if (in_bag[i] == 0) *sum += loss.evaluate(samples, i, i + 1, nullptr);
  }, execution);
}

std::vector<double> shard_weighted_sums(const double* values, index_t n_rows,
                                        const double* weight, index_t n_samples,
                                        const ShardBlocks& blocks, const Execution& execution) {
  return sum_pieces(blocks, {1, 1 + n_rows}, [&](index_t, index_t block, double* sums) {
    const BlockRange rows = range_of(blocks, block, n_samples);
    for (index_t i = rows.begin; i < rows.end; ++i) {
      const double w = weight == nullptr ? 1.0 : weight[i];
      sums[0] += w;
      for (index_t k = 0; k < n_rows; ++k) sums[1 + k] += w * values[k * n_samples + i];
    }
  }, execution);
}

std::vector<double> shard_feature_sums(const double* x, const double* weight, index_t n_samples,
                                       const Vector& first, const ShardBlocks& blocks,
                                       const Execution& execution) {
  const index_t d = first.size();
  const index_t size = 1 + 2 * d;
  std::vector<Vector> largest(blocks.n_blocks, Vector::Zero(d));
  std::vector<double> found =
      sum_pieces(blocks, {1, size}, [&](index_t, index_t block, double* sums) {
        const BlockRange rows = range_of(blocks, block, n_samples);
        FeatureSums total = {Vector::Zero(size), Vector::Zero(d)};
        add_features(x + rows.begin * d, weight == nullptr ? nullptr : weight + rows.begin,
                     rows.end - rows.begin, first, total);
        for (index_t i = 0; i < size; ++i) sums[i] += total.sums[i];
        largest[block - blocks.first] = total.largest;
      }, execution);
  Vector most = Vector::Zero(d);
  for (const Vector& of_block : largest) most = most.cwiseMax(of_block);
  found.insert(found.end(), most.begin(), most.end());
  return found;
}

}  // namespace fctree::distributed
