#include "symmetric/level_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fctree::symmetric {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
enum Sums { kScore, kNorm, kSmallest };

std::int64_t count_of(std::int64_t channel, int count_bits) {
  return channel & ((std::int64_t{1} << count_bits) - 1);
}

}  // namespace

LevelScores::LevelScores(const BinnedMatrix& x, const Tiles& tiles, const QuantizedGradients& channels,
                         const LevelRules& rules)
    : x_(x), tiles_(tiles), channels_(channels), rules_(rules), groups_(x.groups().size()) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::size_t cells = x.groups()[g].n_codes * kCellLanes;
    groups_[g].scores.score.resize(cells);
    groups_[g].scores.gain_base.resize(cells);
    groups_[g].scores.missing_right.resize(cells);
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
  return groups_[g].histograms[side].data() + histogram_offset(g, side, channel, leaf);
}

void LevelScores::compute(const RowsByLeaf& rows, const Execution& execution) {
  const bool is_alone = execution.all == nullptr;
  for_groups(execution, [&](index_t g) {
    const std::size_t size = channels_.n_channels() * n_leaves_ * leaf_stride(g);
    if (groups_[g].histograms[side_].size() < size) groups_[g].histograms[side_].resize(size);
    count_smaller(g, rows);
    if (is_alone) compute_group(g);
  });
  if (!is_alone) {
    add_up_counts(execution);
    for_groups(execution, [&](index_t g) { compute_group(g); });
  }
  if (n_leaves_ == 1) current_score_ = root_score();
}

void LevelScores::for_groups(const Execution& execution,
                             const std::function<void(index_t)>& task) {
  parallel_for(execution, static_cast<index_t>(groups_.size()), task);
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

void LevelScores::count_smaller(index_t g, const RowsByLeaf& rows) {
  std::vector<index_t> leaves(std::max<index_t>(n_leaves_ / 2, 1), 0);
  for (std::size_t i = 0; n_leaves_ > 1 && i < leaves.size(); ++i)
    leaves[i] = 2 * static_cast<index_t>(i) + smaller_is_right_[i];
  const std::vector<std::int64_t*> cells = counted_leaves(g);
  for (std::int64_t* first : cells) std::fill(first, first + leaf_stride(g), 0);
  count_leaves(x_, x_.groups()[g], tiles_, rows, leaves, cells);
}

void LevelScores::score_group(index_t g) {
  const FeatureGroup& shape = x_.groups()[g];
  Group& group = groups_[g];
  const index_t size = shape.n_codes * kCellLanes;
  const index_t n_outputs = channels_.n_outputs();
  const bool cosine = rules_.params.score_function == ScoreFunction::cosine;
  double direction[kCellLanes] = {};
  for (index_t lane = 0; rules_.monotone != nullptr && lane < shape.width; ++lane)
    direction[lane] = rules_.monotone[shape.first_feature + lane];
  const ChannelScales scales = {channels_.gradient_units().data(), channels_.weight_unit(),
                                channels_.count_bits()};
  std::vector<const std::int64_t*> gradient(n_outputs);
  for (const bool missing_left : {false, true}) {
    if (missing_left && !shape.has_missing) break;
    std::vector<double>* sums = group.sums;
    sums[kScore].assign(size, 0.0);
    sums[kNorm].assign(cosine ? size : 0, 0.0);
    sums[kSmallest].assign(size, std::numeric_limits<double>::infinity());
    const CutRule rule = {rules_.params.l2_leaf_reg, missing_left,
                          rules_.monotone != nullptr ? direction : nullptr};
    const CutScores out = {sums[kScore].data(), cosine ? sums[kNorm].data() : nullptr,
                           sums[kSmallest].data()};
    for (index_t leaf = 0; leaf < n_leaves_; ++leaf) {
      if (is_empty_[leaf]) continue;
      for (index_t k = 0; k < n_outputs; ++k)
        gradient[k] = histogram(g, side_, k, leaf);
      const LeafHistogram histograms = {
          gradient.data(), histogram(g, side_, channels_.count_channel(), leaf), n_outputs,
          shape.n_codes};
      histogram_kernels().score_leaf(histograms, scales, rule, out);
    }
    combine_sides(g, missing_left);
  }
}

// Keeps the better side for missing values, and marks what is no candidate.
void LevelScores::combine_sides(index_t g, bool missing_left) {
  const FeatureGroup& shape = x_.groups()[g];
  Group& group = groups_[g];
  GroupScores& scores = group.scores;
  const bool any_cut = rules_.params.score_noise == ScoreNoise::gumbel;
  const double least = static_cast<double>(rules_.params.min_samples_leaf);
  if (!missing_left && !any_cut && group.sums[kNorm].empty()) {
    take_roots(g, least);
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
      const double smallest = group.sums[kSmallest][at];
      const bool cuts = smallest < std::numeric_limits<double>::infinity();
      if (cuts ? smallest < least : !any_cut) continue;
      double score = group.sums[kScore][at];
      const double base = score;
      if (!group.sums[kNorm].empty())
        score = group.sums[kNorm][at] > 0.0 ? score / std::sqrt(group.sums[kNorm][at]) : 0.0;
      else if (!any_cut)
        score = std::sqrt(std::max(score, 0.0));
      // The left side wins ties, unless it leaves the candidate without a cut.
      const double right_score = scores.score[at];
      const bool had_right = missing_left && right_score != kNone;
      if (had_right && !(cuts && score >= right_score - kTie * std::abs(right_score))) continue;
      scores.score[at] = score;
      scores.gain_base[at] = base;
      scores.missing_right[at] = !missing_left;
    }
  }
}

// The usual case of combine_sides: the l2 score, its root, and nothing to compare with.
void LevelScores::take_roots(index_t g, double least) {
  const FeatureGroup& shape = x_.groups()[g];
  GroupScores& scores = groups_[g].scores;
  const double* sum = groups_[g].sums[kScore].data();
  const double* smallest = groups_[g].sums[kSmallest].data();
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

// From the first feature's lane, whose total is all rows.
double LevelScores::root_score() {
  const index_t missing_at = x_.groups()[0].n_codes * kCellLanes;
  const auto total = [&](index_t channel) {
    const std::int64_t* cells = histogram(0, side_, channel, 0);
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

// Sampled rows of a leaf, or those of them right of the split, from this level's histograms.
index_t LevelScores::count(index_t g, index_t lane, index_t leaf, const LevelSplit* split) const {
  const std::int64_t* cells = groups_[g].histograms[side_].data() + lane +
                              histogram_offset(g, side_, channels_.count_channel(), leaf);
  const index_t missing_at = x_.groups()[g].n_codes * kCellLanes;
  const int bits = channels_.count_bits();
  const index_t missing = count_of(cells[missing_at], bits);
  const index_t ordinary = count_of(cells[missing_at - kCellLanes], bits);
  if (split == nullptr) return ordinary + missing;
  const index_t left = count_of(cells[split->code * kCellLanes], bits);
  return ordinary - left + (split->missing_right ? missing : 0);
}

index_t LevelScores::count_right(const LevelSplit& split) const {
  const FeatureGroup& shape = x_.group_of(split.feature);
  const index_t g = &shape - x_.groups().data();
  index_t n = 0;
  for (index_t leaf = 0; leaf < n_leaves_; ++leaf)
    n += count(g, split.feature - shape.first_feature, leaf, &split);
  return n;
}

index_t LevelScores::count_all() const {
  index_t n = 0;
  for (index_t leaf = 0; leaf < n_leaves_; ++leaf) n += count(0, 0, leaf, nullptr);
  return n;
}

void LevelScores::descend(const LevelSplit& split) {
  const FeatureGroup& shape = x_.group_of(split.feature);
  const index_t g = &shape - x_.groups().data();
  const index_t lane = split.feature - shape.first_feature;
  smaller_is_right_.resize(n_leaves_);
  std::vector<std::uint8_t> is_empty(2 * n_leaves_);
  for (index_t leaf = 0; leaf < n_leaves_; ++leaf) {
    const index_t right = count(g, lane, leaf, &split);
    const index_t left = count(g, lane, leaf, nullptr) - right;
    smaller_is_right_[leaf] = right < left;
    is_empty[2 * leaf] = left == 0;
    is_empty[2 * leaf + 1] = right == 0;
  }
  is_empty_.swap(is_empty);
  current_score_ = groups_[g].scores.gain_base[split.code * kCellLanes + lane];
  n_leaves_ *= 2;
  side_ = 1 - side_;
}

}  // namespace fctree::symmetric
