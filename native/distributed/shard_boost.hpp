// A round of boosting (boost.hpp) on the samples of one place: sums over its blocks, as sum_pieces
// gives them.
#pragma once

#include <vector>

#include "core/loss/loss.hpp"
#include "distributed/shard_rows.hpp"

namespace fctree::distributed {

// Losses times weights; writes the derivatives if wanted.
std::vector<double> shard_losses(const Loss& loss, const ScoredSamples& samples,
                                 const Derivatives* out, const ShardBlocks& blocks,
                                 const Execution& execution);
// The same of the samples that are not in the bag.
std::vector<double> shard_left_out_losses(const Loss& loss, const ScoredSamples& samples,
                                          const std::uint8_t* in_bag, const ShardBlocks& blocks,
                                          const Execution& execution);
// The weight, and the weighted sums of some rows of values (n_rows, n_samples): 1 + n_rows.
std::vector<double> shard_weighted_sums(const double* values, index_t n_rows,
                                        const double* weight, index_t n_samples,
                                        const ShardBlocks& blocks, const Execution& execution);
// What add_features adds up about `first` (n_features), 1 + 2 n_features; and the largest
// absolute values (n_features), at the end of the result once.
std::vector<double> shard_feature_sums(const double* x, const double* weight, index_t n_samples,
                                       const Vector& first, const ShardBlocks& blocks,
                                       const Execution& execution);

}  // namespace fctree::distributed
