#include "ensembles/local_boosting_statistics.hpp"

#include <vector>

#include "core/buffer.hpp"
#include "ensembles/packed_rows.hpp"
#include "oblique/grow.hpp"
#include "oblique/refit.hpp"
#include "oblique/relevant_features.hpp"

namespace fctree::ensembles {

namespace {

constexpr index_t kTaskRows = 1024;
constexpr index_t kMostKeptValues = 5'000'000;  // in an order, between trees
constexpr index_t kMostMappedValues = 10'000'000;  // 80 MB

}  // namespace

LossSum LocalBoostingStatistics::evaluate(const BoostedSet& set, const Loss& loss,
                                          const Derivatives* out, const Execution& execution) {
  return set.evaluate(loss, out, execution);
}

LossSum LocalBoostingStatistics::evaluate_left_out(const BoostedSet& set, const Loss& loss,
                                                   const std::vector<std::uint8_t>& in_bag,
                                                   const Execution& execution) {
  const BoostedPart left_out(set, in_bag, execution);
  return BoostedSet(left_out.samples(), set.sizes(), execution).evaluate(loss, nullptr, execution);
}

StepSums LocalBoostingStatistics::left_out_step(const BoostedSet& set, const Loss& loss,
                                                const TreeStep& step,
                                                const Execution& execution) {
  const BoostedPart left_out(set, step.in_bag, execution);
  BoostedSet stepped(left_out.samples(), set.sizes(), execution);
  stepped.add(view_of(step.tree), 0, 1, execution);
  const StepSums none(set.sizes().n_outputs);
  StepSums sums = none;
  sums.weight = stepped.total_weight();
  if (loss.has_value()) sums.loss = stepped.evaluate(loss, nullptr, execution).loss.scaled;
  const ScoredSamples before = set.view(), after = stepped.view();
  std::vector<StepSums> parts(count_parts(stepped.n(), kTaskRows), none);
  for_each_part(execution, stepped.n(), kTaskRows, [&](index_t p, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i)
      add_step({before, left_out.rows()[i]}, {after, i}, step.derivatives, parts[p]);
  });
  for (const StepSums& part : parts)
    for (std::size_t k = 0; k < sums.of_outputs.size(); ++k) sums.of_outputs[k].add(part.of_outputs[k]);
  return sums;
}

void LocalBoostingStatistics::set_features(index_t kind, const FeatureMap& map, const Execution&) {
  statistics_[kind].set_offset(offset_of(map));
  statistics_[kind].set_columns(map.columns);
}

// Values that bins do not tell are read a few times a tree. That takes some hundredths of its time, so that small tables are
// kept.
bool LocalBoostingStatistics::reads_features(index_t n_samples, index_t n_features) const {
  return takes_bins(n_samples) && n_samples * n_features > kMostMappedValues;
}

void LocalBoostingStatistics::index_features(const TrainingData& features, const FeatureMap& map,
                                             const Execution& execution) {
  keeps_order_ = features.n_samples * map.width() <= kMostKeptValues;
  features_ = oblique::index_features(features, map, execution);
}

std::vector<index_t> LocalBoostingStatistics::relevant_features(const TrainingData& data,
                                                                index_t kind,
                                                                const ObliqueParams& params,
                                                                const Execution& execution) {
  return relevant_local_features(data, params, statistics_[kind], execution);
}

ObliqueTreeArrays LocalBoostingStatistics::grow(const TrainingData& data, index_t kind,
                                                const ObliqueParams& params,
                                                const Execution& execution) {
  const Buffer<std::int32_t> rows = weighted_rows(data, execution);
  const bool packs = params.ridge_criterion && 2 * rows.size() < data.n_samples;
  ObliqueTreeArrays tree =
      packs ? grow_tree(PackedRows(data, rows, execution).data(), params, statistics_[kind], execution)
            : grow_tree(data, params, statistics_[kind], execution);
  statistics_[kind].release(keeps_order_);
  return tree;
}

ObliqueTreeArrays LocalBoostingStatistics::refit(const ObliqueTreeArrays& grown, const TrainingData& data,
                                                 index_t kind, const ObliqueParams& params,
                                                 const Execution& execution, Buffer<index_t>& leaf) {
  return refit_tree_on_team(grown, data, params, statistics_[kind], execution, leaf);
}

}  // namespace fctree::ensembles
