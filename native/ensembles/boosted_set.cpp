#include "ensembles/boosted_set.hpp"

#include <algorithm>
#include <numeric>

#include "core/numbers_where.hpp"
#include "ensembles/predict.hpp"

namespace fctree::ensembles {

namespace {

constexpr index_t kTaskRows = 1024;

}  // namespace

BoostedSet::BoostedSet(const BoostedSamples& samples, const BoostedSizes& sizes, const Execution& execution)
    : samples_(samples), sizes_(sizes), raw_(sizes.n_outputs * samples.n_samples),
      total_weight_(static_cast<double>(samples.n_samples)) {
  if (samples.weight != nullptr)
    total_weight_ = std::accumulate(samples.weight, samples.weight + n(), 0.0);
  for_each_part(execution, raw_.size(), kTaskRows, [&](index_t, index_t begin, index_t end) {
    if (samples.initial == nullptr)
      std::fill(raw_.data() + begin, raw_.data() + end, 0.0);
    else
      std::copy(samples.initial + begin, samples.initial + end, raw_.data() + begin);
  });
}

BoostedSet BoostedSet::copy(const Execution& execution) const {
  BoostedSamples samples = samples_;
  samples.initial = raw_.data();
  return BoostedSet(samples, sizes_, execution);
}

void BoostedSet::start(const std::vector<double>& baseline) {
  for (index_t k = 0; k < sizes_.n_outputs; ++k)
    for (index_t i = 0; i < n(); ++i) raw_[k * n() + i] += baseline[k];
}

void BoostedSet::add(const ObliqueTreesView& trees, index_t first, index_t last,
                     const Execution& execution) {
  add_trees(trees, {first, last}, samples_.x, n(), {raw_.data(), 1, n()}, execution);
}

LossSum BoostedSet::evaluate(const Loss& loss, const Derivatives* out,
                             const Execution& execution) const {
  std::vector<LossValue> sums(count_parts(n(), kTaskRows));
  for_each_part(execution, n(), kTaskRows, [&](index_t tile, index_t begin, index_t end) {
    sums[tile] = loss.evaluate(view(), begin, end, out);
  });
  LossSum sum = {{}, total_weight_};
  for (const LossValue& of_tile : sums) sum.loss += of_tile;
  return sum;
}

void add_step(const ScoredRow& before, const ScoredRow& after, const Derivatives& derivatives,
              StepSums& sums) {
  const ScoredSamples& s = before.samples;
  const double weight = s.weight_of(before.row);
  for (index_t k = 0; k < s.n_outputs; ++k) {
    const index_t at = k * s.n_samples + before.row;
    const double step =
        (after.samples.raw[k * after.samples.n_samples + after.row] - s.raw[at]) / s.unit_of(k);
    const double hessian = derivatives.hessian == nullptr ? 1.0 : derivatives.hessian[at];
    sums.of_outputs[k].add({-weight * derivatives.gradient[at] * step, weight * hessian * step * step});
  }
}

BoostedPart::BoostedPart(const BoostedSet& set, const std::vector<std::uint8_t>& in_bag,
                         const Execution& execution)
    : x_(set.x()) {
  const ScoredSamples all = set.view();
  const index_t n = set.n();
  rows_ = numbers_where<index_t>(execution, n, [&](index_t i) { return in_bag[i] == 0; });
  const index_t n_own = rows_.size();
  x_.rows = rows_.data();
  y_.reserve(n_own * set.sizes().n_targets);
  raw_.reserve(n_own * all.n_outputs);
  if (all.weight != nullptr) weight_.reserve(n_own);
  for_each_part(execution, n_own, kTaskRows, [&](index_t, index_t begin, index_t end) {
    const auto take = [&](const double* values, Buffer<double>& part) {
      for (index_t k = 0; k < part.size() / n_own; ++k)
        for (index_t i = begin; i < end; ++i) part[k * n_own + i] = values[k * n + rows_[i]];
    };
    take(all.y, y_);
    take(all.raw, raw_);
    take(all.weight, weight_);
  });
}

BoostedSamples BoostedPart::samples() const {
  return {x_, y_.data(), weight_.empty() ? nullptr : weight_.data(), raw_.data(),
          rows_.size()};
}

}  // namespace fctree::ensembles
