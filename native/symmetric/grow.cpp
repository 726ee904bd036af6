#include "symmetric/grow.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fctree::symmetric {

TreeGrower::TreeGrower(const BinnedMatrix& x, const Tiles& tiles, const BoostingParams& params,
                       const GrowthRules& rules, index_t n_outputs)
    : x_(x),
      tiles_(tiles),
      params_(params),
      rules_(rules),
      total_weight_(static_cast<double>(x.n_samples())),
      n_outputs_(n_outputs),
      feature_used_(params.colsample < 1.0 || rules.masked != nullptr ? x.n_features() : 0),
      channels_(tiles, rules.weight, n_outputs),
      rows_(tiles, channels_, params.max_depth),
      scores_(x, tiles, channels_,
              {params, rules.monotone, feature_used_.empty() ? nullptr : feature_used_.data()}),
      choice_(x, params) {
  if (rules.weight != nullptr)
    total_weight_ = exact_sum(x.n_samples(), [&](index_t i) { return rules.weight[i]; });
}

void TreeGrower::sample_features(index_t iteration) {
  if (!feature_used_.empty()) draw_features(params_, iteration, rules_.masked, feature_used_);
}

void draw_features(const BoostingParams& params, index_t iteration, const std::uint8_t* masked,
                   std::vector<std::uint8_t>& feature_used) {
  const index_t d = static_cast<index_t>(feature_used.size());
  const Random random(params.seed, Purpose::feature_sample);
  std::vector<std::pair<double, index_t>> draws;
  for (index_t f = 0; f < d; ++f)
    if (masked == nullptr || !masked[f])
      draws.push_back({random.uniform(static_cast<std::uint32_t>(iteration),
                                      static_cast<std::uint32_t>(f), 0), f});
  std::sort(draws.begin(), draws.end());
  const auto n_at_hand = static_cast<index_t>(draws.size());
  const auto n_wanted = std::llround(params.colsample * static_cast<double>(n_at_hand));
  const index_t n_used = std::min(n_at_hand, std::max<index_t>(1, n_wanted));
  std::fill(feature_used.begin(), feature_used.end(), 0);
  for (index_t i = 0; i < n_used; ++i) feature_used[draws[i].second] = 1;
}

double TreeGrower::gradient_rms(const double* gradient, const Execution& execution) const {
  const index_t n = tiles_.n_samples();
  std::vector<int> largest(tiles_.count(), 0);
  parallel_for(execution, tiles_.count(), [&](index_t tile) {
    for (index_t k = 0; k < n_outputs_; ++k)
      largest[tile] = std::max(largest[tile],
                               largest_square(gradient + k * n, rules_.weight, tiles_.begin(tile),
                                              tiles_.end(tile)));
  });
  const FixedPoint fixed(*std::max_element(largest.begin(), largest.end()), n_outputs_ * n);
  const TwoWords sum =
      sum_squares(gradient, rules_.weight, n_outputs_, fixed, tiles_, execution);
  return std::sqrt(fixed.value(sum) / total_weight_);
}

int largest_square(const double* gradient, const double* weight, index_t begin, index_t end) {
  int largest = 0;
  if (weight == nullptr) {
    // Of the largest gradient: squares, rounded, grow with it.
    std::int64_t most = 0;
    for (index_t i = begin; i < end; ++i) {
      std::int64_t bits;
      const double magnitude = std::abs(gradient[i]);
      std::memcpy(&bits, &magnitude, sizeof bits);
      most = std::max(most, bits);
    }
    double magnitude;
    std::memcpy(&magnitude, &most, sizeof magnitude);
    return ExponentCounts::exponent_of(squared_term(magnitude, 1.0));
  }
  for (index_t i = begin; i < end; ++i)
    largest = std::max(largest, ExponentCounts::exponent_of(squared_term(gradient[i], weight[i])));
  return largest;
}

namespace {

template <class Term>
TwoWords sum_terms(const FixedPoint& scale, index_t begin, index_t end, const Term& term) {
  TwoWords sum;
  for (index_t i = begin; i < end; ++i) sum += scale.words(term(i));
  return sum;
}

}  // namespace

TwoWords sum_squares(const double* gradient, const double* weight, index_t n_outputs,
                     const FixedPoint& scale, const Tiles& tiles, const Execution& execution) {
  std::vector<TwoWords> sums(tiles.count());
  parallel_for(execution, tiles.count(), [&](index_t tile) {
    const index_t begin = tiles.begin(tile), end = tiles.end(tile);
    for (index_t k = 0; k < n_outputs; ++k) {
      const double* g = gradient + k * tiles.n_samples();
      sums[tile] +=
          weight == nullptr
              ? sum_terms(scale, begin, end, [&](index_t i) { return squared_term(g[i], 1.0); })
              : sum_terms(scale, begin, end,
                          [&](index_t i) { return squared_term(g[i], weight[i]); });
    }
  });
  TwoWords sum;
  for (const TwoWords& part : sums) sum += part;
  return sum;
}

std::vector<LevelSplit> TreeGrower::grow(const double* gradient, const std::uint8_t* in_bag,
                                         index_t iteration, const Execution& execution) {
  std::vector<LevelSplit> splits;
  sample_features(iteration);
  const bool any_gradient = channels_.set_gradients(gradient, execution);
  if (!any_gradient && params_.score_noise != ScoreNoise::gumbel) return splits;
  NoiseScale noise = {iteration, 0.0, total_weight_};
  if (params_.random_strength > 0.0 && params_.score_noise == ScoreNoise::normal)
    noise.gradient_rms = gradient_rms(gradient, execution);
  rows_.reset(in_bag, execution);
  scores_.restart();
  for (index_t level = 0; level < params_.max_depth; ++level) {
    scores_.compute(rows_, execution);
    const auto split = choice_.choose(scores_, noise, splits);
    if (!split) break;
    splits.push_back(*split);
    if (level + 1 == params_.max_depth) break;
    scores_.descend(*split);
    rows_.split(x_, *split, execution);
  }
  return splits;
}

void find_leaves(const BinnedMatrix& x, const std::vector<LevelSplit>& splits, const Tiles& tiles,
                 std::uint16_t* leaf, const Execution& execution) {
  parallel_for(execution, tiles.count(), [&](index_t tile) {
    const index_t begin = tiles.begin(tile), end = tiles.end(tile);
    std::fill(leaf + begin, leaf + end, std::uint16_t{0});
    for (const LevelSplit& split : splits) {
      const FeatureGroup& group = x.group_of(split.feature);
      const std::uint8_t* codes = x.codes(split.feature);
      const RightCodes right_codes(split, group);
      const index_t width = group.width;
      for (index_t i = begin; i < end; ++i)
        leaf[i] = static_cast<std::uint16_t>(2 * leaf[i] + right_codes.contain(codes[i * width]));
    }
  });
}

}  // namespace fctree::symmetric
