#include "oblique/split_search/histogram.hpp"

#include <algorithm>

#include "core/exact_sum.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kTermRows = 8192;

FixedPoint fixed_point(const TermScale& scale, std::size_t term) {
  return FixedPoint(scale.exponent[term], scale.n_samples);
}

// kTerms: number of terms per sample, 0 if known only at run time.
template <index_t kTerms>
void add_terms(const BinnedTerms& samples, const NodeRows& rows, const FeatureSpan& span,
               std::int64_t* sums) {
  const index_t n_terms = kTerms > 0 ? kTerms : samples.n_terms;
  for (index_t at = 0; at < rows.size; ++at) {
    const index_t row = rows.rows[at];
    const std::int64_t* terms = samples.terms.data() + row * n_terms;
    const std::uint8_t* bins = samples.bins + row * samples.n_features + span.first;
    for (index_t j = 0; j < span.size; ++j) {
      std::int64_t* cell = sums + (j * samples.n_bins + bins[j]) * (1 + n_terms);
      ++cell[0];
      for (index_t t = 0; t < n_terms; ++t) cell[1 + t] += terms[t];
    }
  }
}

}  // namespace

TermScale term_scale(const TrainingData& data, const Execution& execution) {
  const index_t n_terms = 1 + data.n_outputs, n_parts = count_parts(data.n_samples, kTermRows);
  std::vector<int> largest(n_parts * n_terms, 0);
  for_each_part(execution, data.n_samples, kTermRows, [&](index_t part, index_t begin, index_t end) {
    int* exponent = largest.data() + part * n_terms;
    const auto widen = [](int& widest, double term) {
      widest = std::max(widest, ExponentCounts::exponent_of(term));
    };
    for (index_t i = begin; i < end; ++i) {
      const double weight = data.weight_of(i);
      widen(exponent[0], weight);
      for (index_t k = 0; k < data.n_outputs; ++k)
        widen(exponent[1 + k], weight * data.y[i * data.n_outputs + k]);
    }
  });
  TermScale scale = {std::vector<int>(n_terms, 0), data.n_samples};
  for (std::size_t at = 0; at < largest.size(); ++at)
    scale.exponent[at % n_terms] = std::max(scale.exponent[at % n_terms], largest[at]);
  return scale;
}

std::vector<double> term_units(const TermScale& scale) {
  std::vector<double> units = {1.0};
  for (std::size_t t = 0; t < scale.exponent.size(); ++t)
    units.push_back(fixed_point(scale, t).value({1, 0}));
  return units;
}

std::vector<std::int64_t> fixed_terms(const TrainingData& data, const TermScale& scale,
                                      const Execution& execution) {
  const index_t n_outputs = data.n_outputs;
  std::vector<FixedPoint> fixed;
  for (std::size_t t = 0; t < scale.exponent.size(); ++t) fixed.push_back(fixed_point(scale, t));
  std::vector<std::int64_t> terms(data.n_samples * (1 + n_outputs));
  for_each_part(execution, data.n_samples, kTermRows, [&](index_t, index_t begin, index_t end) {
    std::int64_t* next = terms.data() + begin * (1 + n_outputs);
    for (index_t i = begin; i < end; ++i) {
      const double weight = data.weight_of(i);
      *next++ = fixed[0].words(weight).high;
      for (index_t k = 0; k < n_outputs; ++k)
        *next++ = fixed[1 + k].words(weight * data.y[i * n_outputs + k]).high;
    }
  });
  return terms;
}

void add_to_histograms(const BinnedTerms& samples, const NodeRows& rows, const FeatureSpan& span,
                       std::int64_t* sums) {
  if (samples.n_terms == 2)
    add_terms<2>(samples, rows, span, sums);
  else
    add_terms<0>(samples, rows, span, sums);
}

}  // namespace fctree::oblique
