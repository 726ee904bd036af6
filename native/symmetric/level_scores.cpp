#include "symmetric/level_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fctree::symmetric {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
enum Sums { kScore, kNorm, kSmallest };

}  // namespace

LevelScores::LevelScores(const BinnedMatrix& x, const Tiles& tiles, const QuantizedGradients& channels,
                         const LevelRules& rules)
    : x_(x),
      channels_(channels),
      rules_(rules),
      histograms_(x, tiles, channels, rules.params.max_depth),
      groups_(x.groups().size()) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::size_t size = x.groups()[g].n_codes * kCellLanes;
    groups_[g].score.resize(size);
    groups_[g].gain_base.resize(size);
    groups_[g].missing_right.resize(size);
  }
}

void LevelScores::restart(const RowsByLeaf& rows, double l2_leaf_reg, const Execution& execution) {
  histograms_.restart(rows, execution);
  l2_leaf_reg_ = l2_leaf_reg;
}

// A group is a task where that keeps all threads busy; else ranges of its codes are.
void LevelScores::compute(const Execution& execution, std::vector<Phase>& phases) {
  const index_t n_groups = histograms_.n_groups(), n_threads = execution.n_threads;
  const bool is_even = n_groups % n_threads == 0 || n_groups >= kTasksPerThread * n_threads;
  const bool in_parts = histograms_.are_kept() && !(is_even && execution.all == nullptr);
  const index_t n_ranges = in_parts ? parts_for_threads(n_groups, n_threads) : 1;
  for (GroupScores& group : groups_) group.highest.assign(n_ranges, kNone);
  if (!histograms_.are_kept()) {
    phases.push_back({n_groups, [this](index_t g) { score_group_anew(g); }});
    return;
  }
  histograms_.make_room();
  if (in_parts) histograms_.count_in_parts(execution, phases);
  phases.push_back({n_groups * n_ranges, [=](index_t task) {
    const index_t g = task / n_ranges;
    if (!in_parts) histograms_.count_group(g);
    score_group(g, {x_.groups()[g].n_codes, n_ranges}, task % n_ranges);
  }});
}

void LevelScores::score_group(index_t g, const Partition& ranges, index_t range) {
  const CodeRange codes = {ranges.begin(range), ranges.end(range)};
  SideSums sides[2];
  start_sides(g, codes, sides);
  for (index_t leaf = 0; leaf < histograms_.n_leaves(); ++leaf)
    if (!histograms_.is_empty(leaf)) score_leaf(g, histograms_.leaf(g, leaf), codes, sides);
  combine_sides(g, codes, sides);
  groups_[g].highest[range] = highest_score(g, codes);
  if (g == 0 && range == 0 && histograms_.n_leaves() == 1)
    current_score_ = root_score(histograms_.leaf(0, 0));
}

void LevelScores::score_group_anew(index_t g) {
  SideSums sides[2];
  start_sides(g, all_codes(g), sides);
  histograms_.count_anew(g, [&](const LeafCells& cells) {
    score_leaf(g, cells, all_codes(g), sides);
    if (g == 0 && histograms_.n_leaves() == 1) current_score_ = root_score(cells);
  });
  combine_sides(g, all_codes(g), sides);
  groups_[g].highest[0] = highest_score(g, all_codes(g));
}

// Lane by lane in the order of memory.
double LevelScores::highest_score(index_t g, const CodeRange& codes) const {
  const double* score = groups_[g].score.data() + codes.first * kCellLanes;
  double highest[kCellLanes];
  std::fill(highest, highest + kCellLanes, kNone);
  for (index_t i = 0; i < codes.n_numbers(); i += kCellLanes)
    for (index_t lane = 0; lane < kCellLanes; ++lane)
      highest[lane] = highest[lane] < score[i + lane] ? score[i + lane] : highest[lane];
  return *std::max_element(highest, highest + kCellLanes);
}

void LevelScores::start_sides(index_t g, const CodeRange& codes, SideSums* sides) const {
  const FeatureGroup& shape = x_.groups()[g];
  const index_t size = codes.n_numbers();
  const bool cosine = rules_.params.score_function == ScoreFunction::cosine;
  for (int side = 0; side < (shape.has_missing ? 2 : 1); ++side) {
    sides[side].sums[kScore].assign(size, 0.0);
    sides[side].sums[kNorm].assign(cosine ? size : 0, 0.0);
    sides[side].sums[kSmallest].assign(size, std::numeric_limits<double>::infinity());
  }
}

// Adds a leaf's part, from its histograms a channel, with missing values on either side.
void LevelScores::score_leaf(index_t g, const LeafCells& cells, const CodeRange& codes,
                             SideSums* sides) {
  const FeatureGroup& shape = x_.groups()[g];
  double direction[kCellLanes] = {}, n_ordered[kCellLanes] = {};
  for (index_t lane = 0; rules_.monotone != nullptr && lane < shape.width; ++lane) {
    direction[lane] = rules_.monotone[shape.first_feature + lane];
    n_ordered[lane] = static_cast<double>(x_.n_cuts_of_values(shape.first_feature + lane));
  }
  const ChannelScales scales = {channels_.gradient_units().data(), channels_.weight_unit(),
                                channels_.count_bits()};
  const LeafHistogram histograms = {cells.data(), cells[channels_.count_channel()],
                                    channels_.n_outputs(), shape.n_codes};
  for (const bool missing_left : {false, true}) {
    if (missing_left && !shape.has_missing) break;
    std::vector<double>* sums = sides[missing_left ? 1 : 0].sums;
    const CutRule rule = {l2_leaf_reg_, missing_left,
                          rules_.monotone != nullptr ? direction : nullptr, n_ordered};
    const CutScores out = {sums[kScore].data(), sums[kNorm].empty() ? nullptr : sums[kNorm].data(),
                           sums[kSmallest].data()};
    histogram_kernels().score_leaf(histograms, codes, scales, rule, out);
  }
}

void LevelScores::combine_sides(index_t g, const CodeRange& codes, const SideSums* sides) {
  take_side(g, codes, false, sides[0]);
  if (x_.groups()[g].has_missing) take_side(g, codes, true, sides[1]);
}

// Keeps the better side for missing values, and marks invalid candidates.
void LevelScores::take_side(index_t g, const CodeRange& codes, bool missing_left,
                            const SideSums& side) {
  const FeatureGroup& shape = x_.groups()[g];
  GroupScores& scores = groups_[g];
  const bool any_cut = rules_.params.score_noise == ScoreNoise::gumbel;
  const double least = static_cast<double>(rules_.params.min_samples_leaf);
  if (!missing_left && !any_cut && side.sums[kNorm].empty()) {
    take_roots(g, codes, side);
    return;
  }
  const index_t first = codes.first * kCellLanes;
  if (!missing_left) std::fill_n(scores.score.begin() + first, codes.n_numbers(), kNone);
  // Lane by lane in the order of memory; a lane without candidates has none for any code.
  index_t n_cuts[kCellLanes] = {};
  for (index_t lane = 0; lane < shape.width; ++lane) {
    const index_t feature = shape.first_feature + lane;
    if (rules_.feature_used != nullptr && !rules_.feature_used[feature]) continue;
    if (!missing_left || x_.has_missing(feature)) n_cuts[lane] = x_.n_cuts(feature);
  }
  const index_t most_cuts = *std::max_element(n_cuts, n_cuts + kCellLanes);
  for (index_t code = codes.first; code < std::min<index_t>(most_cuts, codes.last); ++code) {
    for (index_t lane = 0; lane < shape.width; ++lane) {
      if (code >= n_cuts[lane]) continue;
      const index_t at = code * kCellLanes + lane, from = at - first;
      const double smallest = side.sums[kSmallest][from];
      const bool cuts = smallest < std::numeric_limits<double>::infinity();
      if (cuts ? smallest < least : !any_cut) continue;
      double score = side.sums[kScore][from];
      const double base = score;
      if (!side.sums[kNorm].empty())
        score = side.sums[kNorm][from] > 0.0 ? score / std::sqrt(side.sums[kNorm][from]) : 0.0;
      else if (!any_cut)
        score = std::sqrt(std::max(score, 0.0));
      // The left side wins ties, unless the candidate then splits nothing.
      const double right_score = scores.score[at];
      const bool had_right = missing_left && right_score != kNone;
      if (had_right && !(cuts && score >= right_score - kTie * std::abs(right_score))) continue;
      scores.score[at] = score;
      scores.gain_base[at] = base;
      scores.missing_right[at] = !missing_left;
    }
  }
}

// The usual case of take_side: the root of the l2 score, with missing values, if any, on the right.
void LevelScores::take_roots(index_t g, const CodeRange& codes, const SideSums& side) {
  const FeatureGroup& shape = x_.groups()[g];
  GroupScores& scores = groups_[g];
  const double least = static_cast<double>(rules_.params.min_samples_leaf);
  const double* sum = side.sums[kScore].data();
  const double* smallest = side.sums[kSmallest].data();
  const index_t first = codes.first * kCellLanes, size = codes.n_numbers();
  double* score = scores.score.data() + first;
  for (index_t i = 0; i < size; ++i) {
    const double root = std::sqrt(sum[i] > 0.0 ? sum[i] : 0.0);
    const bool is_candidate =
        smallest[i] >= least && smallest[i] < std::numeric_limits<double>::infinity();
    score[i] = is_candidate ? root : kNone;
  }
  std::copy(sum, sum + size, scores.gain_base.begin() + first);
  std::fill_n(scores.missing_right.begin() + first, size, 1);
  for (index_t lane = 0; lane < kCellLanes; ++lane) {
    const index_t feature = shape.first_feature + lane;
    const bool used = lane < shape.width &&
                      (rules_.feature_used == nullptr || rules_.feature_used[feature]);
    const index_t n_cuts = used ? x_.n_cuts(feature) : 0;
    for (index_t code = std::max<index_t>(n_cuts, codes.first); code < codes.last; ++code)
      scores.score[code * kCellLanes + lane] = kNone;
  }
}

// From the first feature's lane, whose total counts all rows.
double LevelScores::root_score(const LeafCells& cells) const {
  const index_t missing_at = x_.groups()[0].n_codes * kCellLanes;
  const auto total = [&](index_t channel) {
    return cells[channel][missing_at - kCellLanes] + cells[channel][missing_at];
  };
  const std::int64_t counted = total(channels_.count_channel());
  double weight = static_cast<double>(channels_.count_of(counted));
  if (channels_.weighted())
    weight = static_cast<double>(counted >> channels_.count_bits()) * channels_.weight_unit();
  weight += l2_leaf_reg_;
  double score = 0.0;
  for (index_t k = 0; k < channels_.n_outputs() && weight > 0.0; ++k) {
    const double sum = static_cast<double>(total(k) >> channels_.count_bits()) *
                       channels_.gradient_units()[k];
    score += sum * sum / weight;
  }
  return score;
}

void LevelScores::descend(const LevelSplit& split) {
  current_score_ = group_of(split.feature).gain_base[split.code * kCellLanes + x_.lane_of(split.feature)];
  histograms_.descend(split);
}

}  // namespace fctree::symmetric
