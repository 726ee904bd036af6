#include "symmetric/grow.hpp"

#include <algorithm>
#include <cmath>

namespace fctree::symmetric {

namespace {

template <class Term>
TwoWords sum_terms(const FixedPoint& scale, index_t begin, index_t end, const Term& term) {
  TwoWords sum;
  for (index_t i = begin; i < end; ++i) sum += scale.words(term(i));
  return sum;
}

}  // namespace

TreeGrower::TreeGrower(const BinnedMatrix& x, const Tiles& tiles, const BoostingParams& params,
                       const GrowthRules& rules, index_t n_outputs,
                       const SampleTotals& totals)
    : x_(x),
      tiles_(tiles),
      params_(params),
      rules_(rules),
      total_weight_(totals.weight),
      n_outputs_(n_outputs),
      feature_used_(params.colsample < 1.0 || rules.masked != nullptr ||
                            rules.interactions.column != nullptr
                        ? x.n_features()
                        : 0),
      interactions_(rules.interactions),
      channels_(tiles.n_samples(), rules.weight, n_outputs, totals),
      rows_(tiles, channels_, params.max_depth),
      scores_(x, tiles, channels_,
              {params, rules.monotone, feature_used_.empty() ? nullptr : feature_used_.data()}),
      choice_(x, params) {}

// A fixed number of the features at hand (all but the masked ones) for the tree of this iteration:
// those with the least draws.
void TreeGrower::sample_features(index_t iteration) {
  if (feature_used_.empty()) return;
  const index_t d = static_cast<index_t>(feature_used_.size());
  const Random random(params_.seed, Purpose::feature_sample);
  std::vector<std::pair<double, index_t>> draws;
  for (index_t f = 0; f < d; ++f)
    if (rules_.masked == nullptr || !rules_.masked[f])
      draws.push_back({random.uniform(static_cast<std::uint32_t>(iteration),
                                      static_cast<std::uint32_t>(f), 0), f});
  std::sort(draws.begin(), draws.end());
  const auto n_at_hand = static_cast<index_t>(draws.size());
  const auto n_wanted = std::llround(params_.colsample * static_cast<double>(n_at_hand));
  const index_t n_used = std::min(n_at_hand, std::max<index_t>(1, n_wanted));
  std::fill(feature_used_.begin(), feature_used_.end(), 0);
  for (index_t i = 0; i < n_used; ++i) feature_used_[draws[i].second] = 1;
}

TwoWords TreeGrower::sum_squares(const double* gradient, const FixedPoint& fixed,
                                 index_t tile) const {
  const index_t begin = tiles_.begin(tile), end = tiles_.end(tile);
  const double* weight = rules_.weight;
  TwoWords sum;
  for (index_t k = 0; k < n_outputs_; ++k) {
    const double* g = gradient + k * tiles_.n_samples();
    sum += weight == nullptr
               ? sum_terms(fixed, begin, end, [&](index_t i) { return squared_term(g[i], 1.0); })
               : sum_terms(fixed, begin, end,
                           [&](index_t i) { return squared_term(g[i], weight[i]); });
  }
  return sum;
}

double TreeGrower::start_rows(const double* gradient, const DerivativeScale& scale,
                              const RowSample& sample, bool has_noise, const Execution& execution) {
  const FixedPoint fixed(scale.square, n_outputs_ * scale.n_samples);
  std::vector<TwoWords> sums(tiles_.count());
  rows_.reset(sample);
  parallel_for(execution, tiles_.count(), [&](index_t tile) {
    rows_.reset_tile(tile);
    if (has_noise) sums[tile] = sum_squares(gradient, fixed, tile);
  });
  if (!has_noise) return 0.0;
  TwoWords sum;
  for (const TwoWords& part : sums) sum += part;
  std::int64_t words[] = {sum.high, sum.low};
  add_up(execution.all, words, 2);
  return std::sqrt(fixed.value({words[0], words[1]}) / total_weight_);
}

double TreeGrower::drawn_strength(index_t one_of) const {
  const double k = static_cast<double>(one_of), strength = params_.random_strength;
  if (one_of == 1) return strength;
  return std::sqrt(std::max(0.0, strength * strength - (k - 1.0)) / k);
}

std::vector<LevelSplit> TreeGrower::grow(const double* gradient, const DerivativeScale& scale,
                                         const RowSample& sample, index_t iteration,
                                         const Execution& execution) {
  std::vector<LevelSplit> splits;
  sample_features(iteration);
  interactions_.restart(feature_used_);
  const bool any_gradient = channels_.set_gradients(gradient, scale);
  if (!any_gradient && params_.score_noise != ScoreNoise::gumbel) return splits;
  const double strength = drawn_strength(sample.one_of);
  const bool has_normal_noise = strength > 0.0 && params_.score_noise == ScoreNoise::normal;
  const double rms = start_rows(gradient, scale, sample, has_normal_noise, execution);
  const NoiseScale noise = {iteration, strength, rms, total_weight_};
  scores_.restart(rows_, params_.l2_leaf_reg / static_cast<double>(sample.one_of), execution);
  // The loops of a level are one, with the rows' way into its leaves.
  std::vector<Phase> phases;
  for (index_t level = 0; level < params_.max_depth; ++level) {
    scores_.compute(execution, phases);
    choice_.search(scores_, noise, splits, execution, phases);
    parallel_phases(execution, phases);
    const auto split = choice_.found(scores_, splits);
    if (!split) break;
    splits.push_back(*split);
    splits.back().gain *= static_cast<double>(sample.one_of);
    if (level + 1 == params_.max_depth) break;
    interactions_.descend(split->feature, feature_used_);
    scores_.descend(*split);
    rows_.split();
    phases = {{tiles_.count(), [this, last = *split](index_t tile) {
      rows_.split_tile(x_, last, tile);
    }}};
  }
  return splits;
}

void find_leaves(const BinnedMatrix& x, const std::vector<LevelSplit>& splits, index_t begin,
                 index_t end, std::uint16_t* leaf) {
  std::fill(leaf + begin, leaf + end, std::uint16_t{0});
  for (const LevelSplit& split : splits) {
    const FeatureGroup& group = x.group_of(split.feature);
    const std::uint8_t* codes = x.codes(split.feature);
    const RightCodes right_codes(split, group);
    const index_t width = group.width;
    for (index_t i = begin; i < end; ++i)
      leaf[i] = static_cast<std::uint16_t>(2 * leaf[i] + right_codes.contain(codes[i * width]));
  }
}

}  // namespace fctree::symmetric
