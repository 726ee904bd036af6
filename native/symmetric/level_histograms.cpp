#include "symmetric/level_histograms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fctree::symmetric {

namespace {

// Histograms may take this much beside half of what the features take as doubles.
constexpr double kHistogramBytes = 100e6;
// Leaves that are counted anew are counted together up to this size of their histograms.
constexpr index_t kNumbersAnew = index_t{1} << 17;
// Where leaves have fewer rows for each of their codes, counting them anew is faster than to subtract histograms.
constexpr double kFewRows = 2.0;

void clear(const std::vector<std::int64_t*>& cells, index_t stride) {
  for (std::int64_t* first : cells) std::fill(first, first + stride, 0);
}

}  // namespace

index_t parts_for_threads(index_t n, index_t n_threads) {
  const index_t fewer = std::max<index_t>(1, 2 * n_threads / n), more = count_parts(2 * n_threads, n);
  // In units of a whole loop over n_parts.
  const auto until_done = [&](index_t n_parts) { return count_parts(n * n_parts, n_threads); };
  return until_done(more) * fewer < until_done(fewer) * more ? more : fewer;
}

LevelHistograms::LevelHistograms(const BinnedMatrix& x, const Tiles& tiles,
                                 const QuantizedGradients& channels, index_t max_depth)
    : x_(x),
      tiles_(tiles),
      channels_(channels),
      apart_(x.groups().size()) {
  for (std::vector<Buffer<std::int64_t>>& side : histograms_) side.resize(x.groups().size());
  const double table = static_cast<double>(x.n_samples()) * static_cast<double>(x.n_features());
  index_t numbers = 0, most_codes = 0;
  for (index_t g = 0; g < n_groups(); ++g) {
    numbers += leaf_stride(g) * channels.n_channels();
    most_codes = std::max(most_codes, x.groups()[g].n_codes);
  }
  // Of a level and the one above it.
  const double in_memory = (kHistogramBytes + 4.0 * table) / (1.5 * 8.0 * static_cast<double>(numbers));
  most_kept_in_memory_ = static_cast<index_t>(std::min(in_memory, std::exp2(max_depth)));
  most_codes_ = static_cast<double>(most_codes);
}

// Sums of several places are those of kept histograms.
void LevelHistograms::restart(const RowsByLeaf& rows, const Execution& execution) {
  rows_ = &rows;
  most_kept_ = execution.all != nullptr ? std::numeric_limits<index_t>::max() : most_kept_in_memory_;
  // Each group's new counts are a task.
  if (execution.all == nullptr && n_groups() >= execution.n_threads) {
    const double n_rows = static_cast<double>(tiles_.n_samples() / rows.one_of());
    most_kept_ = std::min(most_kept_, static_cast<index_t>(std::max(1.0, n_rows / (kFewRows * most_codes_))));
  }
  n_leaves_ = 1;
  smaller_is_right_.clear();
  is_empty_.assign(1, 0);
}

index_t LevelHistograms::offset(index_t g, int side, index_t channel, index_t leaf) const {
  const index_t n_leaves = side == side_ ? n_leaves_ : n_leaves_ / 2;
  return (channel * n_leaves + leaf) * leaf_stride(g);
}

std::int64_t* LevelHistograms::cells(index_t g, int side, index_t channel, index_t leaf) {
  return histograms_[side][g].data() + offset(g, side, channel, leaf);
}

LevelHistograms::LeafCells LevelHistograms::leaf(index_t g, index_t leaf) const {
  LeafCells found;
  for (index_t c = 0; c < channels_.n_channels(); ++c)
    found.push_back(histograms_[side_][g].data() + offset(g, side_, c, leaf));
  return found;
}

void LevelHistograms::make_room() {
  for (index_t g = 0; g < n_groups(); ++g)
    histograms_[side_][g].reserve(channels_.n_channels() * n_leaves_ * leaf_stride(g));
}

// Of a parent's leaves the one whose histogram is not a difference of two others; the root is its own parent.
index_t LevelHistograms::counted_leaf(index_t parent) const {
  return n_leaves_ == 1 ? 0 : 2 * parent + smaller_is_right_[parent];
}

std::vector<index_t> LevelHistograms::counted_leaves() const {
  std::vector<index_t> leaves;
  for (index_t parent = 0; parent < n_counted(); ++parent) leaves.push_back(counted_leaf(parent));
  return leaves;
}

// The counts of a parent's counted leaf in a stretch of rows: the group's own histogram for the first.
std::int64_t* LevelHistograms::counts(index_t g, index_t stretch, index_t channel, index_t parent) {
  if (stretch == 0) return cells(g, side_, channel, counted_leaf(parent));
  const index_t before = (stretch - 1) * channels_.n_channels() + channel;
  return apart_[g].data() + (before * n_counted() + parent) * leaf_stride(g);
}

// Those of counted_leaves(), channel by channel.
std::vector<std::int64_t*> LevelHistograms::all_counts(index_t g, index_t stretch) {
  std::vector<std::int64_t*> found;
  for (index_t c = 0; c < channels_.n_channels(); ++c)
    for (index_t parent = 0; parent < n_counted(); ++parent) found.push_back(counts(g, stretch, c, parent));
  return found;
}

void LevelHistograms::count_group(index_t g) {
  const std::vector<std::int64_t*> counted = all_counts(g, 0);
  clear(counted, leaf_stride(g));
  LeafCounter(x_, tiles_, *rows_)
      .count(x_.groups()[g], {0, tiles_.count()}, counted_leaves(), counted);
  for (index_t parent = 0; parent < n_counted(); ++parent) complete_leaves(g, parent);
}

// No more than have rows that are worth histograms of their own.
index_t LevelHistograms::count_stretches(const Execution& execution) const {
  const index_t wanted = parts_for_threads(n_groups(), execution.n_threads);
  const index_t n_rows = tiles_.n_samples() / rows_->one_of();
  const index_t worth = n_rows / (2 * n_counted() * (x_.groups()[0].n_codes + 1));
  return std::max<index_t>(1, std::min({wanted, worth, tiles_.count()}));
}

void LevelHistograms::add_stretches(index_t g, index_t parent, index_t n_stretches,
                                    const CodeRange& codes) {
  const index_t first = codes.first * kCellLanes;
  for (index_t stretch = 1; stretch < n_stretches; ++stretch)
    for (index_t c = 0; c < channels_.n_channels(); ++c)
      histogram_kernels().add(counts(g, stretch, c, parent) + first, codes.last - codes.first,
                              counts(g, 0, c, parent) + first);
}

void LevelHistograms::count_in_parts(const Execution& execution, std::vector<Phase>& phases) {
  const Partition stretches = {tiles_.count(), count_stretches(execution)};
  const index_t n_stretches = stretches.n_parts, n_parents = n_counted();
  for (index_t g = 0; g < n_groups(); ++g)
    apart_[g].reserve((n_stretches - 1) * channels_.n_channels() * n_parents * leaf_stride(g));
  phases.push_back({n_groups() * n_stretches, [=, leaves = counted_leaves()](index_t task) {
    const index_t g = task / n_stretches, part = task % n_stretches;
    const std::vector<std::int64_t*> counted = all_counts(g, part);
    clear(counted, leaf_stride(g));
    LeafCounter(x_, tiles_, *rows_)
        .count(x_.groups()[g], {stretches.begin(part), stretches.end(part)}, leaves, counted);
  }});
  // Few leaves are added up in pieces first.
  const index_t n_leaves = n_groups() * n_parents;
  const index_t n_pieces = n_stretches == 1 ? 1 : parts_for_threads(n_leaves, execution.n_threads);
  const bool is_alone = execution.all == nullptr, in_pieces = n_pieces > 1 || !is_alone;
  if (in_pieces)
    phases.push_back({n_leaves * n_pieces, [=](index_t task) {
      const index_t leaf = task / n_pieces, g = leaf / n_parents;
      const Partition pieces = {all_cells(g).last, n_pieces};
      add_stretches(g, leaf % n_parents, n_stretches,
                    {pieces.begin(task % n_pieces), pieces.end(task % n_pieces)});
    }});
  if (!is_alone) {
    parallel_phases(execution, phases);
    phases.clear();
    add_up_counts(execution);
  }
  phases.push_back({n_leaves, [=](index_t leaf) {
    const index_t g = leaf / n_parents, parent = leaf % n_parents;
    if (!in_pieces) add_stretches(g, parent, n_stretches, all_cells(g));
    complete_leaves(g, parent);
  }});
}

// The counts of all places, group by group and leaf by leaf.
void LevelHistograms::add_up_counts(const Execution& execution) {
  counts_.clear();
  for (index_t g = 0; g < n_groups(); ++g)
    for (const std::int64_t* first : all_counts(g, 0))
      counts_.insert(counts_.end(), first, first + leaf_stride(g));
  add_up(execution.all, counts_.data(), static_cast<index_t>(counts_.size()));
  const std::int64_t* next = counts_.data();
  for (index_t g = 0; g < n_groups(); ++g)
    for (std::int64_t* first : all_counts(g, 0)) {
      std::copy_n(next, leaf_stride(g), first);
      next += leaf_stride(g);
    }
}

// From the counts of a parent's smaller child: prefix sums, and the other child.
void LevelHistograms::complete_leaves(index_t g, index_t parent) {
  const index_t n_codes = x_.groups()[g].n_codes;
  for (index_t c = 0; c < channels_.n_channels(); ++c) {
    const index_t smaller = counted_leaf(parent);
    std::int64_t* child = cells(g, side_, c, smaller);
    histogram_kernels().sum_codes(child, n_codes);
    if (n_leaves_ > 1)
      histogram_kernels().subtract(cells(g, 1 - side_, c, parent), child, n_codes + 1,
                                   cells(g, side_, c, smaller ^ 1));
  }
}

void LevelHistograms::count_anew(index_t g,
                                 const std::function<void(const LeafCells&)>& visit) const {
  const LeafCounter counter(x_, tiles_, *rows_);
  const index_t n_codes = x_.groups()[g].n_codes, stride = leaf_stride(g);
  const index_t n_channels = channels_.n_channels();
  const index_t together = std::max<index_t>(1, kNumbersAnew / (n_channels * stride));
  std::vector<std::int64_t> histograms;
  std::vector<index_t> leaves;
  std::vector<std::int64_t*> counted;
  for (index_t leaf = 0; leaf < n_leaves_; ++leaf) {
    if (!is_empty_[leaf]) leaves.push_back(leaf);
    const auto n = static_cast<index_t>(leaves.size());
    if (n == 0 || (n < together && leaf + 1 < n_leaves_)) continue;
    histograms.assign(n_channels * n * stride, 0);
    counted.clear();
    for (index_t i = 0; i < n_channels * n; ++i) counted.push_back(histograms.data() + i * stride);
    counter.count(x_.groups()[g], {0, tiles_.count()}, leaves, counted);
    for (std::int64_t* first : counted) histogram_kernels().sum_codes(first, n_codes);
    for (index_t i = 0; i < n; ++i) {
      LeafCells of_leaf;
      for (index_t c = 0; c < n_channels; ++c) of_leaf.push_back(counted[c * n + i]);
      visit(of_leaf);
    }
    leaves.clear();
  }
}

LevelHistograms::LeafCount LevelHistograms::count_in_histogram(index_t leaf,
                                                               const LevelSplit& split) const {
  const index_t g = x_.group_index(split.feature);
  const std::int64_t* of_feature = histograms_[side_][g].data() + x_.lane_of(split.feature) +
                                   offset(g, side_, channels_.count_channel(), leaf);
  const index_t missing_at = x_.groups()[g].n_codes * kCellLanes;
  const auto count = [&](index_t at) { return channels_.count_of(of_feature[at]); };
  const index_t missing = count(missing_at), ordinary = count(missing_at - kCellLanes);
  const index_t left = count(split.code * kCellLanes);
  return {ordinary + missing, ordinary - left + (split.missing_right ? missing : 0)};
}

LevelHistograms::LeafCount LevelHistograms::count_in_rows(index_t leaf,
                                                          const LevelSplit& split) const {
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

std::vector<LevelHistograms::LeafCount> LevelHistograms::count_leaves_by(
    const LevelSplit& split) const {
  std::vector<LeafCount> counts(n_leaves_);
  for (index_t leaf = 0; leaf < n_leaves_; ++leaf)
    counts[leaf] = are_kept() ? count_in_histogram(leaf, split) : count_in_rows(leaf, split);
  return counts;
}

bool LevelHistograms::has_missing(index_t feature) const {
  const LevelSplit missing_alone = {feature, x_.group_of(feature).missing_code() - 1, true, 0.0};
  const std::vector<LeafCount> counts = count_leaves_by(missing_alone);
  return std::any_of(counts.begin(), counts.end(), [](const LeafCount& leaf) { return leaf.right > 0; });
}

void LevelHistograms::descend(const LevelSplit& split) {
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
  n_leaves_ *= 2;
  side_ = 1 - side_;
}

}  // namespace fctree::symmetric
