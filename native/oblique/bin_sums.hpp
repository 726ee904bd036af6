// What is in each bin of each feature of a node, of the samples of one place: their number, weight and
// weighted targets as integers, sums of which are exact wherever and in whatever order they are added up.
#pragma once

#include <vector>

#include "oblique/shard_steps.hpp"

namespace fctree {

// Binary exponents (core/exact_sum.hpp) of the largest weight and the largest |w y| of each output,
// (1 + K), among n samples of all places.
struct TermScale {
  std::vector<int> exponent;
  index_t n_samples;
};
// What 1 stands for in the sums: of the weight and of each output.
std::vector<double> term_units(const TermScale& scale);

struct BinnedSamples {
  const std::uint8_t* bins;  // (n_samples, n_features)
  index_t n_bins;
  std::vector<std::int64_t> terms;  // weight and w y of each sample, (n_samples, 1 + K)
};
std::vector<std::int64_t> fixed_terms(const TrainingData& data, const TermScale& scale);

// Adds the number, the weight and w y to sums (n_nodes, n_features, n_bins, 2 + K). O(n d K).
void shard_bin_sums(const ShardRows& rows, const NodeList& nodes, const BinnedSamples& samples,
                    std::int64_t* sums, const Execution& execution);

}  // namespace fctree
