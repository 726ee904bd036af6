#include "distributed/boosting_statistics.hpp"

#include "distributed/distributed_statistics.hpp"
#include "oblique/grow.hpp"
#include "oblique/refit.hpp"
#include "oblique/relevant_features.hpp"

namespace fctree::distributed {

namespace {

// add(begin, end, sums) adds the losses and weights of the samples here with these numbers.
template <class Add>
LossSum sum_losses(const BoostedSet& set, const Add& add, const Execution& execution) {
  const RowBlocks& blocks = *set.blocks();
  const auto add_block = [&](index_t, index_t block, double* sums) {
    add(blocks.begin(block), blocks.end(block, set.n()), sums);
  };
  const std::vector<double> sums = sum_blocks(blocks, {1, 3}, add_block, execution);
  return {{sums[0], sums[1]}, sums[2]};
}

}  // namespace

// Rows (n, width) of the sample, of all places.
std::vector<double> DistributedBoostingStatistics::of_sample(const double* values, index_t width,
                                                             const Execution& execution) const {
  std::vector<double> own;
  own.reserve(sample_rows_.size() * width);
  for (const index_t row : sample_rows_)
    own.insert(own.end(), values + row * width, values + (row + 1) * width);
  return gather(execution.all, own);
}

LossSum DistributedBoostingStatistics::evaluate(const BoostedSet& set, const Loss& loss,
                                                const Derivatives* out,
                                                const Execution& execution) {
  const ScoredSamples samples = set.view();
  return sum_losses(
      set,
      [&](index_t begin, index_t end, double* sums) {
        const LossValue found = loss.evaluate(samples, begin, end, out);
        sums[0] += found.reported;
        sums[1] += found.scaled;
        for (index_t i = begin; i < end; ++i) sums[2] += samples.weight_of(i);
      },
      execution);
}

LossSum DistributedBoostingStatistics::evaluate_left_out(const BoostedSet& set, const Loss& loss,
                                                         const std::vector<std::uint8_t>& in_bag,
                                                         const Execution& execution) {
  const ScoredSamples samples = set.view();
  return sum_losses(
      set,
      [&](index_t begin, index_t end, double* sums) {
        for (index_t i = begin; i < end; ++i) {
          if (in_bag[i] != 0) continue;
          sums[1] += loss.evaluate(samples, i, i + 1, nullptr).scaled;
          sums[2] += samples.weight_of(i);
        }
      },
      execution);
}

StepSums DistributedBoostingStatistics::left_out_step(const BoostedSet& set, const Loss& loss,
                                                      const TreeStep& step,
                                                      const Execution& execution) {
  BoostedSet stepped = set.copy(execution);
  stepped.add(view_of(step.tree), 0, 1, execution);
  const ScoredSamples before = set.view(), after = stepped.view();
  const RowBlocks& blocks = *set.blocks();
  const index_t n_outputs = set.sizes().n_outputs;
  const auto add_block = [&](index_t, index_t block, double* sums) {
    StepSums own(n_outputs);
    for (index_t i = blocks.begin(block); i < blocks.end(block, set.n()); ++i) {
      if (step.in_bag[i] != 0) continue;
      own.loss += loss.evaluate(after, i, i + 1, nullptr).scaled;
      own.weight += after.weight_of(i);
      add_step({before, i}, {after, i}, step.derivatives, own);
    }
    *sums++ += own.loss;
    *sums++ += own.weight;
    for (const StepTerms& terms : own.of_outputs) {
      *sums++ += terms.decrease;
      *sums++ += terms.curvature;
    }
  };
  const std::vector<double> sums = sum_blocks(blocks, {1, 2 + 2 * n_outputs}, add_block, execution);
  StepSums total(n_outputs);
  total.loss = sums[0];
  total.weight = sums[1];
  for (index_t k = 0; k < n_outputs; ++k) total.of_outputs[k] = {sums[2 + 2 * k], sums[3 + 2 * k]};
  return total;
}

// The sample's features as trees see them.
std::vector<double> DistributedBoostingStatistics::map_sample(const FeatureMap& map, const Execution& execution) {
  const index_t d = map.mean.size();
  if (sample_x_.empty()) {
    Table own = samples_.x;
    own.rows = sample_rows_.data();
    std::vector<double> x(sample_rows_.size() * d);
    own.read(0, static_cast<index_t>(sample_rows_.size()), x.data());
    sample_x_ = gather(execution.all, x);
  }
  const index_t n_sampled = static_cast<index_t>(sample_x_.size()) / d;
  std::vector<double> mapped(n_sampled * map.width());
  map_features(map, table_of(sample_x_.data(), d), n_sampled, mapped.data(), execution);
  return mapped;
}

void DistributedBoostingStatistics::set_features(index_t kind, const FeatureMap& map, const Execution& execution) {
  if (kind >= static_cast<index_t>(features_.size())) features_.resize(kind + 1);
  features_[kind] = {map_sample(map, execution), offset_of(map), map.columns};
}

void DistributedBoostingStatistics::index_features(const TrainingData& features,
                                                   const FeatureMap& map,
                                                   const Execution& execution) {
  const std::vector<double> sample = map_sample(map, execution);
  TrainingData sampled = {};
  sampled.x = sample.data();
  sampled.n_features = map.width();
  sampled.n_samples = static_cast<index_t>(sample.size()) / map.width();
  index_columns_ = map.columns;
  bins_.bins = FeatureBins(sampled, offset_of(map), execution);
  bins_.of_values = bins_.bins.of(features, execution);
}

template <class Use>
auto DistributedBoostingStatistics::with_statistics(const TrainingData& data, index_t kind,
                                                    const ObliqueParams& params,
                                                    const Execution& execution,
                                                    const Use& use) const {
  const std::vector<double> targets = of_sample(data.y, data.n_outputs, execution);
  const std::vector<double> weights = of_sample(data.weight, 1, execution);
  const TrainingData sample = {features_[kind].sample.data(), targets.data(), weights.data(),
                               static_cast<index_t>(weights.size()), data.n_features,
                               data.n_outputs};
  BinnedFeatures bins;
  if (sorts_axes(params)) bins = bins_.of(places_of(features_[kind].columns, index_columns_));
  DistributedStatistics statistics(data, *samples_.blocks, sample,
                                   sorts_axes(params) ? &bins : nullptr);
  statistics.set_offset(features_[kind].offset);
  return use(statistics, sample);
}

std::vector<index_t> DistributedBoostingStatistics::relevant_features(
    const TrainingData& data, index_t kind, const ObliqueParams& params,
    const Execution& execution) {
  return with_statistics(data, kind, params, execution, [&](DistributedStatistics& statistics, TrainingData sample) {
    const bool are_all = sample.n_samples == add_up(execution.all, data.n_samples);
    if (!are_all || !has_few_samples(sample))
      return oblique::relevant_features(data, params, statistics, execution, {data.n_features});
    // Of few rows each place has all.
    const std::vector<double> counts = of_sample(data.count, 1, execution);
    sample.count = counts.data();
    LocalStatistics local;
    local.set_offset(statistics.offset());
    Execution here = execution;
    here.all = nullptr;
    return relevant_local_features(sample, params, local, here);
  });
}

ObliqueTreeArrays DistributedBoostingStatistics::grow(const TrainingData& data, index_t kind,
                                                      const ObliqueParams& params,
                                                      const Execution& execution) {
  return with_statistics(data, kind, params, execution, [&](DistributedStatistics& statistics, const TrainingData&) {
    return grow_tree(data, params, statistics, execution);
  });
}

ObliqueTreeArrays DistributedBoostingStatistics::refit(const ObliqueTreeArrays& grown, const TrainingData& data,
                                                       index_t kind, const ObliqueParams& params,
                                                       const Execution& execution, Buffer<index_t>& leaf) {
  return with_statistics(data, kind, params, execution, [&](DistributedStatistics& statistics, const TrainingData&) {
    return refit_tree_on_team(grown, data, params, statistics, execution, leaf);
  });
}

}  // namespace fctree::distributed
