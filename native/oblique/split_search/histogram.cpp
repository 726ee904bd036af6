#include "oblique/split_search/histogram.hpp"

#include <algorithm>
#include <limits>

#include "core/exact_sum.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kTermRows = 8192;

FixedPoint fixed_point(const TermScale& scale, std::size_t term) {
  return FixedPoint(scale.exponent[term], scale.n_samples);
}

// The least and the largest of positive weights.
struct WeightRange {
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;

  void add(const WeightRange& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};

// kTerms: number of terms per sample, 0 if known only at run time.
template <index_t kTerms>
void add_terms(const BinnedTerms& samples, const NodeRows& rows, const std::vector<index_t>& features,
               std::int64_t* sums) {
  constexpr index_t kRowsAhead = 16;  // rows of a small node are too far apart for hardware prefetching
  const index_t n_terms = kTerms > 0 ? kTerms : samples.n_terms;
  for (index_t at = 0; at < rows.size; ++at) {
    const index_t row = rows.rows[at], later = rows.rows[std::min(at + kRowsAhead, rows.size - 1)];
    __builtin_prefetch(samples.terms.data() + later * n_terms);
    __builtin_prefetch(samples.bins + later * samples.n_features + features[0]);
    const std::int64_t* terms = samples.terms.data() + row * n_terms;
    const std::uint8_t* bins = samples.bins + row * samples.n_features;
    std::int64_t* of_feature = sums;
    for (const index_t feature : features) {
      std::int64_t* cell = of_feature + bins[feature] * (1 + n_terms);
      ++cell[0];
      for (index_t t = 0; t < n_terms; ++t) cell[1 + t] += terms[t];
      of_feature += samples.feature_size();
    }
  }
}

}  // namespace

TermScale term_scale(const TrainingData& data, const Execution& execution) {
  const index_t n_terms = 1 + data.n_outputs, n_parts = count_parts(data.n_samples, kTermRows);
  std::vector<int> largest(n_parts * n_terms, 0);
  std::vector<WeightRange> weights(n_parts);
  for_each_part(execution, data.n_samples, kTermRows, [&](index_t part, index_t begin, index_t end) {
    int* exponent = largest.data() + part * n_terms;
    const auto widen = [](int& widest, double term) {
      widest = std::max(widest, ExponentCounts::exponent_of(term));
    };
    for (index_t i = begin; i < end; ++i) {
      const double weight = data.weight_of(i);
      widen(exponent[0], weight);
      if (weight > 0.0) weights[part].add({weight, weight});
      for (index_t k = 0; k < data.n_outputs; ++k)
        widen(exponent[1 + k], weight * data.y[i * data.n_outputs + k]);
    }
  });
  WeightRange all;
  for (const WeightRange& of_part : weights) all.add(of_part);
  TermScale scale = {std::vector<int>(n_terms, 0), data.n_samples, all.least == all.most ? all.most : 0.0};
  for (std::size_t at = 0; at < largest.size(); ++at)
    scale.exponent[at % n_terms] = std::max(scale.exponent[at % n_terms], largest[at]);
  return scale;
}

std::vector<double> term_units(const TermScale& scale) {
  std::vector<double> units = {1.0};
  for (std::size_t t = 0; t < scale.exponent.size(); ++t)
    units.push_back(fixed_point(scale, t).value({1, 0}));
  if (scale.weight == 0.0) return units;
  units.erase(units.begin());
  units[0] *= static_cast<double>(fixed_point(scale, 0).words(scale.weight).high);
  return units;
}

Buffer<std::int64_t> fixed_terms(const TrainingData& data, const TermScale& scale,
                                 const Execution& execution) {
  const index_t n_outputs = data.n_outputs;
  std::vector<FixedPoint> fixed;
  for (std::size_t t = 0; t < scale.exponent.size(); ++t) fixed.push_back(fixed_point(scale, t));
  const bool with_weights = scale.weight == 0.0;
  const index_t n_terms = n_outputs + with_weights;
  Buffer<std::int64_t> terms(data.n_samples * n_terms);
  for_each_part(execution, data.n_samples, kTermRows, [&](index_t, index_t begin, index_t end) {
    std::int64_t* next = terms.data() + begin * n_terms;
    for (index_t i = begin; i < end; ++i) {
      const double weight = data.weight_of(i);
      if (with_weights) *next++ = fixed[0].words(weight).high;
      for (index_t k = 0; k < n_outputs; ++k)
        *next++ = fixed[1 + k].words(weight * data.y[i * n_outputs + k]).high;
    }
  });
  return terms;
}

void add_to_histograms(const BinnedTerms& samples, const NodeRows& rows, const std::vector<index_t>& features,
                       std::int64_t* sums) {
  constexpr decltype(&add_terms<0>) kernels[] = {add_terms<0>, add_terms<1>, add_terms<2>};
  kernels[samples.n_terms < 3 ? samples.n_terms : 0](samples, rows, features, sums);
}

}  // namespace fctree::oblique
