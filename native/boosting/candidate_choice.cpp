#include "boosting/candidate_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fctree {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
// Noise beyond any score, whose sums with scores stay finite.
constexpr double kLargestNoise = 1e290;

bool is_used(const std::vector<LevelSplit>& used, index_t feature, index_t code) {
  for (const LevelSplit& split : used)
    if (split.feature == feature && split.code == code) return true;
  return false;
}

}  // namespace

CandidateChoice::CandidateChoice(const BinnedMatrix& x, const BoostingParams& params)
    : x_(x), params_(params), random_(params.seed, Purpose::candidate_noise) {
  std::uint32_t n = 0;
  for (index_t f = 0; f < x.n_features(); ++f) {
    first_candidate_.push_back(n);
    n += static_cast<std::uint32_t>(x.n_cuts(f));
  }
}

template <class Value>
CandidateChoice::Best CandidateChoice::highest(const LevelScores& scores,
                                               const std::vector<LevelSplit>& used,
                                               double tie, const Value& value) const {
  Best best = {kNone, -1, -1};
  for (std::size_t g = 0; g < x_.groups().size(); ++g) {
    const FeatureGroup& shape = x_.groups()[g];
    const double* score = scores.group(static_cast<index_t>(g)).score.data();
    for (index_t lane = 0; lane < shape.width; ++lane) {
      const index_t feature = shape.first_feature + lane;
      for (index_t code = 0; code < x_.n_cuts(feature); ++code) {
        const double plain = score[code * kCellLanes + lane];
        if (plain == kNone) continue;
        if (!used.empty() && is_used(used, feature, code)) continue;
        const double noisy = value(plain, feature, code, best.score);
        if (!(noisy > kNone)) continue;
        if (best.feature < 0 || noisy > best.score + tie * std::abs(best.score))
          best = {noisy, feature, code};
      }
    }
  }
  return best;
}

std::optional<LevelSplit> CandidateChoice::choose(const LevelScores& scores,
                                                  const NoiseScale& noise,
                                                  const std::vector<LevelSplit>& above) const {
  const bool gumbel = params_.score_noise == ScoreNoise::gumbel;
  const std::vector<LevelSplit> none;
  const std::vector<LevelSplit>& used = gumbel ? above : none;
  double unit = params_.random_strength;
  if (gumbel) {
    unit *= noise.total_weight;
  } else {
    const double length = static_cast<double>(noise.iteration) * params_.learning_rate;
    const double q = noise.total_weight * std::exp(-length);
    unit *= noise.gradient_rms * q / (1.0 + q);
  }

  const auto plain_value = [](double score, index_t, index_t, double) { return score; };
  unit = std::min(unit, kLargestNoise);
  Best best = highest(scores, used, kTie, plain_value);
  if (best.feature < 0) return std::nullopt;
  if (unit > 0.0) {
    const double largest = gumbel ? Random::kLargestGumbel : Random::kLargestNormal;
    const double smallest = gumbel ? -4.0 : -Random::kLargestNormal;
    const double least = best.score + (smallest - largest) * unit;
    const auto iteration = static_cast<std::uint32_t>(noise.iteration);
    const auto level = static_cast<std::uint32_t>(above.size());
    best = highest(scores, used, 0.0,
                   [&](double score, index_t feature, index_t code, double so_far) {
      if (score < least || score + largest * unit < so_far) return kNone;
      const std::uint32_t at = first_candidate_[feature] + static_cast<std::uint32_t>(code);
      const double draw = gumbel ? random_.gumbel(iteration, level, at)
                                 : random_.normal_above((so_far - score) / unit, iteration,
                                                        level, at);
      return score + unit * draw;
    });
  }

  const FeatureGroup& shape = x_.group_of(best.feature);
  const index_t at = best.code * kCellLanes + best.feature - shape.first_feature;
  const GroupScores& group = scores.group(&shape - x_.groups().data());
  LevelSplit split = {best.feature, best.code, group.missing_right[at] != 0, 0.0};
  split.gain = group.gain_base[at] - scores.current_score();
  // Nothing was missing: values that are, later, go with the majority.
  if (!x_.has_missing(best.feature))
    split.missing_right = 2 * scores.count_right(split) > scores.count_all();
  return split;
}

}  // namespace fctree
