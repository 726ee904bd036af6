#include "symmetric/candidate_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fctree::symmetric {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
// Noise larger than any score, whose sums with scores stay finite.
constexpr double kLargestNoise = 1e290;
constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
constexpr index_t kMostCuts = 255;  // of a feature: codes are bytes

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

const double* CandidateChoice::scores_of(const LevelScores& scores, index_t feature) const {
  return scores.group_of(feature).score.data() + x_.lane_of(feature);
}

template <class Value>
void CandidateChoice::find_highest(const LevelScores& scores, index_t feature, const Search& search,
                                   const Value& value, Best& best) const {
  const double* score = scores_of(scores, feature);
  for (index_t code = 0; code < x_.n_cuts(feature); ++code) {
    const double plain = score[code * kCellLanes];
    if (!(plain >= search.least && plain > kNone)) continue;
    if (!search.used.empty() && is_used(search.used, feature, code)) continue;
    const double noisy = value(plain, feature, code, best.score);
    if (!(noisy > kNone)) continue;
    if (best.score == kNone || noisy > best.score + search.tie * std::abs(best.score))
      best = {noisy, feature, code};
  }
}

// A score that candidates must reach to be the best or tie with it: any chain of ties is far
// shorter than this margin.
double CandidateChoice::least_of_best(const LevelScores& scores) const {
  double most = kNone;
  for (std::size_t g = 0; g < x_.groups().size(); ++g)
    for (const double highest : scores.group(static_cast<index_t>(g)).highest)
      most = std::max(most, highest);
  return most - 1000.0 * kTie * std::abs(most);
}

CandidateChoice::Best CandidateChoice::highest_score(const LevelScores& scores,
                                                     const std::vector<LevelSplit>& used) const {
  const double least = used.empty() ? least_of_best(scores) : kNone;
  Best best = {kNone, -1, -1};
  for (std::size_t g = 0; g < x_.groups().size(); ++g) {
    const FeatureGroup& shape = x_.groups()[g];
    const std::vector<double>& highest = scores.group(static_cast<index_t>(g)).highest;
    if (*std::max_element(highest.begin(), highest.end()) < least) continue;
    for (index_t f = shape.first_feature; f < shape.first_feature + shape.width; ++f)
      find_highest(scores, f, {used, least, kTie},
                   [](double score, index_t, index_t, double) { return score; }, best);
  }
  return best;
}

double CandidateChoice::noise_unit(const NoiseScale& noise) const {
  double unit = noise.strength;
  if (is_gumbel()) {
    unit *= noise.total_weight;
  } else {
    const double length = static_cast<double>(noise.iteration) * params_.learning_rate;
    const double q = noise.total_weight * std::exp(-length);
    unit *= noise.gradient_rms * q / (1.0 + q);
  }
  return std::min(unit, kLargestNoise);
}

double CandidateChoice::draw_needed(double so_far, double score) const {
  return (so_far - score - kRounding * std::abs(so_far)) / unit_;
}

double CandidateChoice::with_noise(const NoiseScale& noise, index_t level, const Best& plain,
                                   double so_far) const {
  if (draw_needed(so_far, plain.score) > largest_draw()) return kNone;
  const auto iteration = static_cast<std::uint32_t>(noise.iteration);
  const auto above = static_cast<std::uint32_t>(level);
  const std::uint32_t at = first_candidate_[plain.feature] + static_cast<std::uint32_t>(plain.code);
  const double draw = is_gumbel() ? random_.gumbel(iteration, above, at)
                                  : random_.normal_above(draw_needed(so_far, plain.score), iteration, above, at);
  return plain.score + unit_ * draw;
}

void CandidateChoice::find_plain(const LevelScores& scores, const std::vector<LevelSplit>& above) {
  plain_ = highest_score(scores, is_gumbel() ? above : std::vector<LevelSplit>());
}

// The highest without noise has a value with noise that is a bound from below.
void CandidateChoice::start_noise(const NoiseScale& noise, index_t level) {
  const double smallest = is_gumbel() ? -4.0 : -Random::kLargestNormal;
  least_ = plain_.score + (smallest - largest_draw()) * unit_;
  told_ = with_noise(noise, level, plain_, kNone);
}

double CandidateChoice::highest_of(const LevelScores& scores, index_t feature) const {
  const double* score = scores_of(scores, feature);
  double most = kNone;
  for (index_t code = 0; code < x_.n_cuts(feature); ++code) most = std::max(most, score[code * kCellLanes]);
  return most;
}

// Whoever reaches what another feature has found is written down too: of equal ones the first wins, in
// the order of features.
CandidateChoice::Best CandidateChoice::highest_with_noise(const LevelScores& scores,
                                                          const NoiseScale& noise,
                                                          const std::vector<LevelSplit>& above,
                                                          const CodeRange& features) {
  const std::vector<LevelSplit> none;
  const Search search = {is_gumbel() ? above : none, least_, 0.0};
  const auto level = static_cast<index_t>(above.size());
  Best highest = {kNone, -1, -1};
  std::uint32_t words[kMostCuts];
  for (index_t f = features.first; f < features.last; ++f) {
    Best best = {std::nextafter(told_.load(std::memory_order_relaxed), kNone), -1, -1};
    const double needed = draw_needed(best.score, highest_of(scores, f));
    if (!(needed <= largest_draw())) continue;
    const WordRange large = is_gumbel() ? Random::words_of_gumbel_above(needed) : Random::words_of_normal_above(needed);
    random_.first_words(static_cast<std::uint32_t>(noise.iteration), static_cast<std::uint32_t>(level),
                        first_candidate_[f], x_.n_cuts(f), words);
    find_highest(scores, f, search,
                 [&](double score, index_t feature, index_t code, double so_far) {
                   return large.has(words[code]) ? with_noise(noise, level, {score, feature, code}, so_far) : kNone;
                 },
                 best);
    if (best.feature < 0) continue;
    if (highest.feature < 0 || best.score > highest.score) highest = best;
    tell(best.score);
  }
  return highest;
}

void CandidateChoice::tell(double score) {
  double told = told_.load(std::memory_order_relaxed);
  while (told < score && !told_.compare_exchange_weak(told, score, std::memory_order_relaxed)) {
  }
}

void CandidateChoice::search(const LevelScores& scores, const NoiseScale& noise,
                             const std::vector<LevelSplit>& above, const Execution& execution,
                             std::vector<Phase>& phases) {
  unit_ = noise_unit(noise);
  const index_t d = x_.n_features();
  const Partition parts = {d, std::min<index_t>(d, kTasksPerThread * execution.n_threads)};
  noisy_.assign(unit_ > 0.0 ? parts.n_parts : 0, {kNone, -1, -1});
  if (noisy_.empty()) return;
  phases.push_back({1, [&](index_t) {
    find_plain(scores, above);
    if (plain_.feature >= 0) start_noise(noise, static_cast<index_t>(above.size()));
  }});
  phases.push_back({parts.n_parts, [&, parts](index_t part) {
    if (plain_.feature >= 0)
      noisy_[part] = highest_with_noise(scores, noise, above, {parts.begin(part), parts.end(part)});
  }});
}

std::optional<LevelSplit> CandidateChoice::found(const LevelScores& scores, const std::vector<LevelSplit>& above) {
  if (noisy_.empty()) find_plain(scores, above);  // without a phase for this one look
  if (plain_.feature < 0) return std::nullopt;
  Best best = noisy_.empty() ? plain_ : Best{kNone, -1, -1};
  for (const Best& of_part : noisy_)
    if (of_part.feature >= 0 && (best.feature < 0 || of_part.score > best.score)) best = of_part;

  const index_t at = best.code * kCellLanes + x_.lane_of(best.feature);
  const GroupScores& group = scores.group_of(best.feature);
  LevelSplit split = {best.feature, best.code, group.missing_right[at] != 0, 0.0};
  split.gain = group.gain_base[at] - scores.current_score();
  // Where no missing value tells which side is better, they go with the majority.
  if (!x_.has_missing(best.feature) || !scores.histograms().has_missing(best.feature))
    split.missing_right = x_.most_are_above(best.feature, best.code);
  return split;
}

}  // namespace fctree::symmetric
