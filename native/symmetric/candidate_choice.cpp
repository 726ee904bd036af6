#include "symmetric/candidate_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fctree::symmetric {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
// Noise larger than any score, whose sums with scores stay finite.
constexpr double kLargestNoise = 1e290;
// A candidate's draw, in multiply-adds.
constexpr double kWorkOfDraw = 256.0;

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
void CandidateChoice::find_highest(const LevelScores& scores, index_t g, const Search& search,
                                   const Value& value, Best& best) const {
  const FeatureGroup& shape = x_.groups()[g];
  const double* score = scores.group(g).score.data();
  for (index_t lane = 0; lane < shape.width; ++lane) {
    const index_t feature = shape.first_feature + lane;
    for (index_t code = 0; code < x_.n_cuts(feature); ++code) {
      const double plain = score[code * kCellLanes + lane];
      if (!(plain >= search.least && plain > kNone)) continue;
      if (!search.used.empty() && is_used(search.used, feature, code)) continue;
      const double noisy = value(plain, feature, code, best.score);
      if (!(noisy > kNone)) continue;
      if (best.score == kNone || noisy > best.score + search.tie * std::abs(best.score))
        best = {noisy, feature, code};
    }
  }
}

// A score that candidates must reach to be the best or tie with it: any chain of ties is far
// shorter than this margin.
double CandidateChoice::least_of_best(const LevelScores& scores) const {
  double most = kNone;
  for (std::size_t g = 0; g < x_.groups().size(); ++g) {
    const double* score = scores.group(static_cast<index_t>(g)).score.data();
    const index_t n = x_.groups()[g].n_codes * kCellLanes;
    double lanes[kCellLanes];
    std::fill(lanes, lanes + kCellLanes, kNone);
    for (index_t i = 0; i < n; i += kCellLanes)
      for (index_t lane = 0; lane < kCellLanes; ++lane)
        lanes[lane] = lanes[lane] < score[i + lane] ? score[i + lane] : lanes[lane];
    most = std::max(most, *std::max_element(lanes, lanes + kCellLanes));
  }
  return most - 1000.0 * kTie * std::abs(most);
}

CandidateChoice::Best CandidateChoice::highest_score(const LevelScores& scores,
                                                     const std::vector<LevelSplit>& used) const {
  const double least = used.empty() ? least_of_best(scores) : kNone;
  Best best = {kNone, -1, -1};
  for (index_t g = 0; g < static_cast<index_t>(x_.groups().size()); ++g)
    find_highest(scores, g, {used, least, kTie},
                 [](double score, index_t, index_t, double) { return score; }, best);
  return best;
}

// `best` is the highest without noise, whose value with noise is a bound from below.
CandidateChoice::Best CandidateChoice::highest_with_noise(
    const LevelScores& scores, const NoiseScale& noise, double unit,
    const std::vector<LevelSplit>& above, const Best& best, const Execution& execution) const {
  const bool gumbel = params_.score_noise == ScoreNoise::gumbel;
  const double largest = gumbel ? Random::kLargestGumbel : Random::kLargestNormal;
  const double smallest = gumbel ? -4.0 : -Random::kLargestNormal;
  const auto iteration = static_cast<std::uint32_t>(noise.iteration);
  const auto level = static_cast<std::uint32_t>(above.size());
  const auto value = [&](double score, index_t feature, index_t code, double so_far) {
    if (score + largest * unit < so_far) return kNone;
    const std::uint32_t at = first_candidate_[feature] + static_cast<std::uint32_t>(code);
    const double draw = gumbel ? random_.gumbel(iteration, level, at)
                               : random_.normal_above((so_far - score) / unit, iteration,
                                                      level, at);
    return score + unit * draw;
  };
  const std::vector<LevelSplit> none;
  const Search search = {gumbel ? above : none, best.score + (smallest - largest) * unit, 0.0};
  const double bound = std::nextafter(value(best.score, best.feature, best.code, kNone), kNone);
  std::vector<Best> of_groups(x_.groups().size(), {bound, -1, -1});
  const double work = kWorkOfDraw * static_cast<double>(first_candidate_.back());
  parallel_for(limit_threads(execution, work), static_cast<index_t>(of_groups.size()),
               [&](index_t g) { find_highest(scores, g, search, value, of_groups[g]); });
  Best highest = {kNone, -1, -1};
  for (const Best& of_group : of_groups)
    if (of_group.feature >= 0 && (highest.feature < 0 || of_group.score > highest.score))
      highest = of_group;
  return highest;
}

std::optional<LevelSplit> CandidateChoice::choose(const LevelScores& scores,
                                                  const NoiseScale& noise,
                                                  const std::vector<LevelSplit>& above,
                                                  const Execution& execution) const {
  const bool gumbel = params_.score_noise == ScoreNoise::gumbel;
  double unit = params_.random_strength;
  if (gumbel) {
    unit *= noise.total_weight;
  } else {
    const double length = static_cast<double>(noise.iteration) * params_.learning_rate;
    const double q = noise.total_weight * std::exp(-length);
    unit *= noise.gradient_rms * q / (1.0 + q);
  }
  unit = std::min(unit, kLargestNoise);
  Best best = highest_score(scores, gumbel ? above : std::vector<LevelSplit>());
  if (best.feature < 0) return std::nullopt;
  if (unit > 0.0) best = highest_with_noise(scores, noise, unit, above, best, execution);

  const FeatureGroup& shape = x_.group_of(best.feature);
  const index_t at = best.code * kCellLanes + best.feature - shape.first_feature;
  const GroupScores& group = scores.group(&shape - x_.groups().data());
  LevelSplit split = {best.feature, best.code, group.missing_right[at] != 0, 0.0};
  split.gain = group.gain_base[at] - scores.current_score();
  // No missing values in training: later ones go with the majority.
  if (!x_.has_missing(best.feature))
    split.missing_right = scores.histograms().sends_most_right(split);
  return split;
}

}  // namespace fctree::symmetric
