#include "symmetric/level_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fctree::symmetric {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
enum Sums { kScore, kNorm, kSmallest };

// Histograms may take this much beside half of what the features take as doubles.
constexpr double kHistogramBytes = 100e6;
// Leaves that are counted anew are counted together up to this size.
constexpr index_t kCellsAnew = index_t{1} << 17;

std::int64_t count_of(std::int64_t channel, int count_bits) {
  return channel & ((std::int64_t{1} << count_bits) - 1);
}

}  // namespace

LevelScores::LevelScores(const BinnedMatrix& x, const Tiles& tiles, const QuantizedGradients& channels,
                         const LevelRules& rules)
    : x_(x),
      tiles_(tiles),
      channels_(channels),
      rules_(rules),
      histograms_{std::vector<std::vector<std::int64_t>>(x.groups().size()),
                  std::vector<std::vector<std::int64_t>>(x.groups().size())},
      groups_(x.groups().size()) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::size_t cells = x.groups()[g].n_codes * kCellLanes;
    groups_[g].score.resize(cells);
    groups_[g].gain_base.resize(cells);
    groups_[g].missing_right.resize(cells);
  }
}

void LevelScores::restart() {
  n_leaves_ = 1;
  smaller_is_right_.clear();
  is_empty_.assign(1, 0);
}

index_t LevelScores::leaf_stride(index_t g) const {
  return (x_.groups()[g].n_codes + 1) * kCellLanes;
}

index_t LevelScores::histogram_offset(index_t g, int side, index_t channel, index_t leaf) const {
  const index_t n_leaves = side == side_ ? n_leaves_ : n_leaves_ / 2;
  return (channel * n_leaves + leaf) * leaf_stride(g);
}

std::int64_t* LevelScores::histogram(index_t g, int side, index_t channel, index_t leaf) {
  return histograms_[side][g].data() + histogram_offset(g, side, channel, leaf);
}

// At the deepest level and the one above it.
bool LevelScores::too_large_to_keep() const {
  double cells = 0.0;
  for (index_t g = 0; g < static_cast<index_t>(groups_.size()); ++g)
    cells += static_cast<double>(leaf_stride(g) * channels_.n_channels());
  const double n_leaves = 1.5 * std::exp2(static_cast<double>(rules_.params.max_depth - 1));
  const double table = static_cast<double>(x_.n_samples()) * static_cast<double>(x_.n_features());
  return 8.0 * cells * n_leaves > kHistogramBytes + 4.0 * table;
}

void LevelScores::compute(const RowsByLeaf& rows, const Execution& execution) {
  const bool is_alone = execution.all == nullptr;
  const index_t n_groups = static_cast<index_t>(groups_.size());
  if (too_large_to_keep() && is_alone) {
    rows_ = &rows;
    parallel_for(execution, n_groups, [&](index_t g) { compute_group_anew(g); });
    return;
  }
  parallel_for(execution, n_groups, [&](index_t g) {
    const std::size_t size = channels_.n_channels() * n_leaves_ * leaf_stride(g);
    if (histograms_[side_][g].size() < size) histograms_[side_][g].resize(size);
    count_smaller(g, rows);
    if (is_alone) compute_group(g);
  });
  if (!is_alone) {
    add_up_counts(execution);
    parallel_for(execution, n_groups, [&](index_t g) { compute_group(g); });
  }
  if (n_leaves_ > 1) return;
  std::vector<const std::int64_t*> root;
  for (index_t c = 0; c < channels_.n_channels(); ++c) root.push_back(histogram(0, side_, c, 0));
  current_score_ = root_score(root);
}

// The counts of all places, group by group and leaf by leaf.
void LevelScores::add_up_counts(const Execution& execution) {
  counts_.clear();
  for (index_t g = 0; g < static_cast<index_t>(groups_.size()); ++g)
    for (const std::int64_t* cells : counted_leaves(g))
      counts_.insert(counts_.end(), cells, cells + leaf_stride(g));
  add_up(execution.all, counts_.data(), static_cast<index_t>(counts_.size()));
  const std::int64_t* next = counts_.data();
  for (index_t g = 0; g < static_cast<index_t>(groups_.size()); ++g)
    for (std::int64_t* cells : counted_leaves(g)) {
      std::copy_n(next, leaf_stride(g), cells);
      next += leaf_stride(g);
    }
}

void LevelScores::compute_group(index_t g) {
  const FeatureGroup& shape = x_.groups()[g];
  const index_t cells = shape.n_codes + 1;
  const HistogramKernels& kernels = histogram_kernels();
  for (index_t c = 0; c < channels_.n_channels(); ++c) {
    if (n_leaves_ == 1) {
      kernels.sum_codes(histogram(g, side_, c, 0), shape.n_codes);
      continue;
    }
    for (index_t parent = 0; parent < n_leaves_ / 2; ++parent) {
      const index_t smaller = 2 * parent + smaller_is_right_[parent];
      std::int64_t* child = histogram(g, side_, c, smaller);
      kernels.sum_codes(child, shape.n_codes);
      kernels.subtract(histogram(g, 1 - side_, c, parent), child, cells,
                       histogram(g, side_, c, smaller ^ 1));
    }
  }
  score_group(g);
}

// The histograms of the leaves that are not had by subtraction, channel by channel.
std::vector<std::int64_t*> LevelScores::counted_leaves(index_t g) {
  std::vector<std::int64_t*> cells;
  for (index_t c = 0; c < channels_.n_channels(); ++c)
    for (index_t i = 0; i < std::max<index_t>(n_leaves_ / 2, 1); ++i)
      cells.push_back(histogram(g, side_, c, n_leaves_ == 1 ? 0 : 2 * i + smaller_is_right_[i]));
  return cells;
}

void LevelScores::compute_group_anew(index_t g) {
  const index_t n_codes = x_.groups()[g].n_codes, stride = leaf_stride(g);
  const index_t n_channels = channels_.n_channels();
  const index_t together = std::max<index_t>(1, kCellsAnew / (n_channels * stride));
  SideSums sides[2];
  start_sides(g, sides);
  std::vector<std::int64_t> histograms;
  std::vector<index_t> leaves;
  std::vector<std::int64_t*> cells;
  for (index_t leaf = 0; leaf < n_leaves_; ++leaf) {
    if (!is_empty_[leaf]) leaves.push_back(leaf);
    const auto n = static_cast<index_t>(leaves.size());
    if (n == 0 || (n < together && leaf + 1 < n_leaves_)) continue;
    histograms.assign(n_channels * n * stride, 0);
    cells.clear();
    for (index_t i = 0; i < n_channels * n; ++i) cells.push_back(histograms.data() + i * stride);
    count_leaves(x_, x_.groups()[g], tiles_, *rows_, leaves, cells);
    for (std::int64_t* first : cells) histogram_kernels().sum_codes(first, n_codes);
    for (index_t i = 0; i < n; ++i) {
      std::vector<const std::int64_t*> channels;
      for (index_t c = 0; c < n_channels; ++c) channels.push_back(cells[c * n + i]);
      score_leaf(g, channels, sides);
      if (g == 0 && n_leaves_ == 1) current_score_ = root_score(channels);
    }
    leaves.clear();
  }
  combine_sides(g, false, sides[0]);
  if (x_.groups()[g].has_missing) combine_sides(g, true, sides[1]);
}

void LevelScores::count_smaller(index_t g, const RowsByLeaf& rows) {
  std::vector<index_t> leaves(std::max<index_t>(n_leaves_ / 2, 1), 0);
  for (std::size_t i = 0; n_leaves_ > 1 && i < leaves.size(); ++i)
    leaves[i] = 2 * static_cast<index_t>(i) + smaller_is_right_[i];
  const std::vector<std::int64_t*> cells = counted_leaves(g);
  for (std::int64_t* first : cells) std::fill(first, first + leaf_stride(g), 0);
  count_leaves(x_, x_.groups()[g], tiles_, rows, leaves, cells);
}

void LevelScores::score_group(index_t g) {
  SideSums sides[2];
  start_sides(g, sides);
  std::vector<const std::int64_t*> channels(channels_.n_channels());
  for (index_t leaf = 0; leaf < n_leaves_; ++leaf) {
    if (is_empty_[leaf]) continue;
    for (index_t c = 0; c < channels_.n_channels(); ++c)
      channels[c] = histogram(g, side_, c, leaf);
    score_leaf(g, channels, sides);
  }
  combine_sides(g, false, sides[0]);
  if (x_.groups()[g].has_missing) combine_sides(g, true, sides[1]);
}

void LevelScores::start_sides(index_t g, SideSums* sides) const {
  const FeatureGroup& shape = x_.groups()[g];
  const index_t size = shape.n_codes * kCellLanes;
  const bool cosine = rules_.params.score_function == ScoreFunction::cosine;
  for (int side = 0; side < (shape.has_missing ? 2 : 1); ++side) {
    sides[side].sums[kScore].assign(size, 0.0);
    sides[side].sums[kNorm].assign(cosine ? size : 0, 0.0);
    sides[side].sums[kSmallest].assign(size, std::numeric_limits<double>::infinity());
  }
}

// Adds a leaf's part, from its histograms a channel, with missing values on either side.
void LevelScores::score_leaf(index_t g, const std::vector<const std::int64_t*>& channels,
                             SideSums* sides) {
  const FeatureGroup& shape = x_.groups()[g];
  double direction[kCellLanes] = {};
  for (index_t lane = 0; rules_.monotone != nullptr && lane < shape.width; ++lane)
    direction[lane] = rules_.monotone[shape.first_feature + lane];
  const ChannelScales scales = {channels_.gradient_units().data(), channels_.weight_unit(),
                                channels_.count_bits()};
  const LeafHistogram histograms = {channels.data(), channels[channels_.count_channel()],
                                    channels_.n_outputs(), shape.n_codes};
  for (const bool missing_left : {false, true}) {
    if (missing_left && !shape.has_missing) break;
    std::vector<double>* sums = sides[missing_left ? 1 : 0].sums;
    const CutRule rule = {rules_.params.l2_leaf_reg, missing_left,
                          rules_.monotone != nullptr ? direction : nullptr};
    const CutScores out = {sums[kScore].data(), sums[kNorm].empty() ? nullptr : sums[kNorm].data(),
                           sums[kSmallest].data()};
    histogram_kernels().score_leaf(histograms, scales, rule, out);
  }
}

// Keeps the better side for missing values, and marks invalid candidates.
void LevelScores::combine_sides(index_t g, bool missing_left, const SideSums& side) {
  const FeatureGroup& shape = x_.groups()[g];
  GroupScores& scores = groups_[g];
  const bool any_cut = rules_.params.score_noise == ScoreNoise::gumbel;
  const double least = static_cast<double>(rules_.params.min_samples_leaf);
  if (!missing_left && !any_cut && side.sums[kNorm].empty()) {
    take_roots(g, least, side);
    return;
  }
  if (!missing_left) std::fill(scores.score.begin(), scores.score.end(), kNone);
  // Lane by lane in the order of memory; a lane without candidates has none for any code.
  index_t n_cuts[kCellLanes] = {};
  for (index_t lane = 0; lane < shape.width; ++lane) {
    const index_t feature = shape.first_feature + lane;
    if (rules_.feature_used != nullptr && !rules_.feature_used[feature]) continue;
    if (!missing_left || x_.has_missing(feature)) n_cuts[lane] = x_.n_cuts(feature);
  }
  const index_t most_cuts = *std::max_element(n_cuts, n_cuts + kCellLanes);
  for (index_t code = 0; code < most_cuts; ++code) {
    for (index_t lane = 0; lane < shape.width; ++lane) {
      if (code >= n_cuts[lane]) continue;
      const index_t at = code * kCellLanes + lane;
      const double smallest = side.sums[kSmallest][at];
      const bool cuts = smallest < std::numeric_limits<double>::infinity();
      if (cuts ? smallest < least : !any_cut) continue;
      double score = side.sums[kScore][at];
      const double base = score;
      if (!side.sums[kNorm].empty())
        score = side.sums[kNorm][at] > 0.0 ? score / std::sqrt(side.sums[kNorm][at]) : 0.0;
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

// The usual case of combine_sides: the l2 score, its root, and no missing values.
void LevelScores::take_roots(index_t g, double least, const SideSums& side) {
  const FeatureGroup& shape = x_.groups()[g];
  GroupScores& scores = groups_[g];
  const double* sum = side.sums[kScore].data();
  const double* smallest = side.sums[kSmallest].data();
  double* score = scores.score.data();
  const auto size = static_cast<index_t>(scores.score.size());
  for (index_t i = 0; i < size; ++i) {
    const double root = std::sqrt(sum[i] > 0.0 ? sum[i] : 0.0);
    const bool is_candidate =
        smallest[i] >= least && smallest[i] < std::numeric_limits<double>::infinity();
    score[i] = is_candidate ? root : kNone;
  }
  std::copy(sum, sum + size, scores.gain_base.begin());
  std::fill(scores.missing_right.begin(), scores.missing_right.end(), 1);
  for (index_t lane = 0; lane < kCellLanes; ++lane) {
    const index_t feature = shape.first_feature + lane;
    const bool used = lane < shape.width &&
                      (rules_.feature_used == nullptr || rules_.feature_used[feature]);
    for (index_t code = used ? x_.n_cuts(feature) : 0; code < shape.n_codes; ++code)
      score[code * kCellLanes + lane] = kNone;
  }
}

// From the first feature's lane, whose total counts all rows.
double LevelScores::root_score(const std::vector<const std::int64_t*>& channels) const {
  const index_t missing_at = x_.groups()[0].n_codes * kCellLanes;
  const auto total = [&](index_t channel) {
    const std::int64_t* cells = channels[channel];
    return cells[missing_at - kCellLanes] + cells[missing_at];
  };
  const std::int64_t counted = total(channels_.count_channel());
  double weight = static_cast<double>(count_of(counted, channels_.count_bits()));
  if (channels_.weighted())
    weight = static_cast<double>(counted >> channels_.count_bits()) * channels_.weight_unit();
  weight += rules_.params.l2_leaf_reg;
  double score = 0.0;
  for (index_t k = 0; k < channels_.n_outputs() && weight > 0.0; ++k) {
    const double sum = static_cast<double>(total(k) >> channels_.count_bits()) *
                       channels_.gradient_units()[k];
    score += sum * sum / weight;
  }
  return score;
}

LevelScores::LeafCount LevelScores::count_in_histogram(index_t leaf,
                                                       const LevelSplit& split) const {
  const FeatureGroup& shape = x_.group_of(split.feature);
  const index_t g = &shape - x_.groups().data();
  const std::int64_t* cells = histograms_[side_][g].data() + split.feature - shape.first_feature +
                              histogram_offset(g, side_, channels_.count_channel(), leaf);
  const index_t missing_at = shape.n_codes * kCellLanes;
  const int bits = channels_.count_bits();
  const index_t missing = count_of(cells[missing_at], bits);
  const index_t ordinary = count_of(cells[missing_at - kCellLanes], bits);
  const index_t left = count_of(cells[split.code * kCellLanes], bits);
  return {ordinary + missing, ordinary - left + (split.missing_right ? missing : 0)};
}

LevelScores::LeafCount LevelScores::count_in_rows(index_t leaf, const LevelSplit& split) const {
  const FeatureGroup& shape = x_.group_of(split.feature);
  const RightCodes right_codes(split, shape);
  LeafCount counts;
  for (index_t tile = 0; tile < tiles_.count(); ++tile) {
    const LeafRows rows = rows_->rows(tile, leaf, 0);
    const std::uint8_t* codes = x_.codes(split.feature) + tiles_.begin(tile) * shape.width;
    counts.all += rows.n_rows;
    for (index_t i = 0; i < rows.n_rows; ++i)
      counts.right += right_codes.contain(codes[rows.rows[i] * shape.width]);
  }
  return counts;
}

std::vector<LevelScores::LeafCount> LevelScores::count_leaves_by(const LevelSplit& split) const {
  std::vector<LeafCount> counts(n_leaves_);
  for (index_t leaf = 0; leaf < n_leaves_; ++leaf)
    counts[leaf] =
        rows_ != nullptr ? count_in_rows(leaf, split) : count_in_histogram(leaf, split);
  return counts;
}

bool LevelScores::sends_most_right(const LevelSplit& split) const {
  index_t all = 0, right = 0;
  for (const LeafCount& leaf : count_leaves_by(split)) {
    all += leaf.all;
    right += leaf.right;
  }
  return 2 * right > all;
}

void LevelScores::descend(const LevelSplit& split) {
  const FeatureGroup& shape = x_.group_of(split.feature);
  const index_t g = &shape - x_.groups().data();
  const index_t lane = split.feature - shape.first_feature;
  const std::vector<LeafCount> counts = count_leaves_by(split);
  smaller_is_right_.resize(n_leaves_);
  std::vector<std::uint8_t> is_empty(2 * n_leaves_);
  for (index_t leaf = 0; leaf < n_leaves_; ++leaf) {
    const index_t right = counts[leaf].right;
    const index_t left = counts[leaf].all - right;
    smaller_is_right_[leaf] = right < left;
    is_empty[2 * leaf] = left == 0;
    is_empty[2 * leaf + 1] = right == 0;
  }
  is_empty_.swap(is_empty);
  current_score_ = groups_[g].gain_base[split.code * kCellLanes + lane];
  n_leaves_ *= 2;
  side_ = 1 - side_;
}

}  // namespace fctree::symmetric
