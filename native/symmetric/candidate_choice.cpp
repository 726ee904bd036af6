#include "symmetric/candidate_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fctree::symmetric {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
// Noise larger than any score, whose sums with scores stay finite.
constexpr double kLargestNoise = 1e290;
// More than the number of codes of a feature.
constexpr index_t kLanesApart = 1024;

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

// The group's candidates with scores of at least `least`, as lane * kLanesApart + code and so
// in the order of features and codes. The scan is over cells in the order of memory.
void CandidateChoice::collect(const FeatureGroup& shape, const double* score, double least,
                              std::vector<index_t>& found) const {
  found.clear();
  for (index_t code = 0; code < shape.n_codes; ++code) {
    const double* cell = score + code * kCellLanes;
    bool any = false;
    for (index_t lane = 0; lane < kCellLanes; ++lane) any |= cell[lane] >= least;
    if (!any) continue;
    for (index_t lane = 0; lane < shape.width; ++lane)
      if (cell[lane] >= least && cell[lane] > kNone &&
          code < x_.n_cuts(shape.first_feature + lane))
        found.push_back(lane * kLanesApart + code);
  }
  std::sort(found.begin(), found.end());
}

template <class Value>
CandidateChoice::Best CandidateChoice::highest(const LevelScores& scores, const Search& search,
                                               const Value& value) const {
  Best best = {kNone, -1, -1};
  std::vector<index_t> found;
  for (std::size_t g = 0; g < x_.groups().size(); ++g) {
    const FeatureGroup& shape = x_.groups()[g];
    const double* score = scores.group(static_cast<index_t>(g)).score.data();
    collect(shape, score, search.least, found);
    for (const index_t at : found) {
      const index_t lane = at / kLanesApart, code = at % kLanesApart;
      const index_t feature = shape.first_feature + lane;
      if (!search.used.empty() && is_used(search.used, feature, code)) continue;
      const double noisy = value(score[code * kCellLanes + lane], feature, code, best.score);
      if (!(noisy > kNone)) continue;
      if (best.feature < 0 || noisy > best.score + search.tie * std::abs(best.score))
        best = {noisy, feature, code};
    }
  }
  return best;
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
  const double least_plain = gumbel ? kNone : least_of_best(scores);
  Best best = highest(scores, {used, least_plain, kTie}, plain_value);
  if (best.feature < 0) return std::nullopt;
  if (unit > 0.0) {
    const double largest = gumbel ? Random::kLargestGumbel : Random::kLargestNormal;
    const double smallest = gumbel ? -4.0 : -Random::kLargestNormal;
    const double least = best.score + (smallest - largest) * unit;
    const auto iteration = static_cast<std::uint32_t>(noise.iteration);
    const auto level = static_cast<std::uint32_t>(above.size());
    best = highest(scores, {used, least, 0.0},
                   [&](double score, index_t feature, index_t code, double so_far) {
      if (score + largest * unit < so_far) return kNone;
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
  // No missing values in training: later ones go with the majority.
  if (!x_.has_missing(best.feature))
    split.missing_right = scores.sends_most_right(split);
  return split;
}

}  // namespace fctree::symmetric
