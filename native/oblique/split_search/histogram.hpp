// Histograms of a node: per bin of each feature the number of samples, their weight and weighted
// targets, as integers, so that sums are exact in any order and on any machine.
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "ridge/training_data.hpp"

namespace fctree::oblique {

using namespace ridge;

// Binary exponents (core/exact_sum.hpp) of the largest weight and the largest |w y| of each output,
// (1 + K), among all n samples.
struct TermScale {
  std::vector<int> exponent;
  index_t n_samples;
  double weight = 0.0;  // of all samples that have any, or 0: their number tells the weight of a bin
};
TermScale term_scale(const TrainingData& data, const Execution& execution);
// The units of the integers: of the number of samples, 1, of the weight and of each output, (2 + K); or, where all
// weights are the same, of the number, that weight, and of each output, (1 + K).
std::vector<double> term_units(const TermScale& scale);

struct BinnedTerms {
  const std::uint8_t* bins;  // (n_samples, n_features)
  index_t n_bins;
  index_t n_features;
  index_t n_terms;             // 1 + K, or K
  Buffer<std::int64_t> terms;  // the weight, unless all are the same, and w y of each sample, (n_samples, n_terms)

  // Integers per feature: the count and the terms of each bin.
  index_t feature_size() const { return n_bins * (1 + n_terms); }
};
Buffer<std::int64_t> fixed_terms(const TrainingData& data, const TermScale& scale,
                                 const Execution& execution);

// Adds some samples to sums (features, n_bins, 1 + n_terms). O(n K) per feature.
constexpr index_t kFeaturesTogether = 8;  // whose sums stay in the cache: 48 kB for an output
void add_to_histograms(const BinnedTerms& samples, const NodeRows& rows, const std::vector<index_t>& features,
                       std::int64_t* sums);

}  // namespace fctree::oblique
