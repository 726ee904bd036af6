#include "oblique/bin_sums.hpp"

#include <algorithm>

#include "core/exact_sum.hpp"

namespace fctree {

namespace {

constexpr index_t kFeaturesOfTask = 8;  // 48 kB of sums for an output: they stay in the cache

// Adds samples to the bins of `width` features, the first of which `bins` begins with. kTerms: how
// many terms a sample has, 0 where only `n_terms` knows.
template <index_t kTerms>
void add_to_bins(const NodeRows& rows, const std::uint8_t* bins, index_t n_features,
                 index_t width, const BinnedSamples& samples, index_t n_terms,
                 std::int64_t* sums) {
  const index_t count = kTerms > 0 ? kTerms : n_terms;
  for (index_t at = 0; at < rows.size; ++at) {
    const index_t row = rows.rows[at];
    const std::int64_t* terms = samples.terms.data() + row * count;
    const std::uint8_t* of_row = bins + row * n_features;
    for (index_t j = 0; j < width; ++j) {
      std::int64_t* cell = sums + (j * samples.n_bins + of_row[j]) * (1 + count);
      ++cell[0];
      for (index_t t = 0; t < count; ++t) cell[1 + t] += terms[t];
    }
  }
}

FixedPoint fixed_point(const TermScale& scale, std::size_t term) {
  return FixedPoint(scale.exponent[term], scale.n_samples);
}

}  // namespace

std::vector<double> term_units(const TermScale& scale) {
  std::vector<double> units;
  for (std::size_t t = 0; t < scale.exponent.size(); ++t)
    units.push_back(fixed_point(scale, t).value({1, 0}));
  return units;
}

std::vector<std::int64_t> fixed_terms(const TrainingData& data, const TermScale& scale) {
  const index_t n_outputs = data.n_outputs;
  std::vector<FixedPoint> fixed;
  for (std::size_t t = 0; t < scale.exponent.size(); ++t) fixed.push_back(fixed_point(scale, t));
  std::vector<std::int64_t> terms;
  terms.reserve(data.n_samples * (1 + n_outputs));
  for (index_t i = 0; i < data.n_samples; ++i) {
    const double weight = data.weight == nullptr ? 1.0 : data.weight[i];
    terms.push_back(fixed[0].words(weight).high);
    for (index_t k = 0; k < n_outputs; ++k)
      terms.push_back(fixed[1 + k].words(weight * data.y[i * n_outputs + k]).high);
  }
  return terms;
}

void shard_bin_sums(const ShardRows& rows, const NodeList& nodes, const BinnedSamples& samples,
                    std::int64_t* sums, const Execution& execution) {
  const index_t d = rows.data.n_features, n_terms = 1 + rows.data.n_outputs;
  const index_t feature_size = samples.n_bins * (1 + n_terms);
  const index_t n_groups = (d + kFeaturesOfTask - 1) / kFeaturesOfTask;
  parallel_for(execution, nodes.size * n_groups, [&](index_t task) {
    const index_t i = task / n_groups, first = task % n_groups * kFeaturesOfTask;
    const index_t width = std::min(kFeaturesOfTask, d - first);
    const std::uint8_t* bins = samples.bins + first;
    std::int64_t* out = sums + (i * d + first) * feature_size;
    for (index_t b = 0; b < rows.blocks.n_blocks; ++b) {
      const NodeRows own = rows.rows_of(nodes.node[i], rows.blocks.first + b);
      if (n_terms == 2)
        add_to_bins<2>(own, bins, d, width, samples, n_terms, out);
      else
        add_to_bins<0>(own, bins, d, width, samples, n_terms, out);
    }
  });
}

}  // namespace fctree
