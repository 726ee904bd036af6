// The histograms of all leaves of a level of a symmetric tree.
//
// Only the smaller child of each leaf is counted, the other is parent minus sibling: O(n d / 2)
// additions and O(2^level b d) cells per level. A group of features can be one task; where groups do not
// keep all threads busy, stretches of rows are counted apart and added up, leaf by leaf. Sums are of
// integers: the same for any threads.
// Where the histograms of a level would take too much memory, wide tables or deep trees, or its leaves have few rows,
// they are not kept: from there on each level counts all its leaves anew, a few at a time.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "symmetric/leaf_rows.hpp"

namespace fctree::symmetric {

// Where groups are fewer than this for each thread, they are cut into more tasks.
constexpr index_t kTasksPerThread = 4;
// How many parts each of n equal loops is cut into for about two tasks a thread, since what is counted apart has to be
// added up: of the two nearest numbers that with which the last thread is done earlier.
index_t parts_for_threads(index_t n, index_t n_threads);

class LevelHistograms {
 public:
  // A leaf's prefix sums over codes, a pointer for each channel (histogram_kernels.hpp).
  using LeafCells = std::vector<const std::int64_t*>;

  LevelHistograms(const BinnedMatrix& x, const Tiles& tiles, const QuantizedGradients& channels,
                  index_t max_depth);

  // Back to one leaf, of these rows from now on.
  void restart(const RowsByLeaf& rows, const Execution& execution);
  index_t n_leaves() const { return n_leaves_; }
  index_t n_groups() const { return static_cast<index_t>(x_.groups().size()); }
  bool is_empty(index_t leaf) const { return is_empty_[leaf] != 0; }

  // Whether those of this level are.
  bool are_kept() const { return n_leaves_ <= most_kept_; }
  // Makes room for what the two that follow write.
  void make_room();
  void count_group(index_t g);
  // Appends the loops that count all groups.
  void count_in_parts(const Execution& execution, std::vector<Phase>& phases);
  // A kept histogram.
  LeafCells leaf(index_t g, index_t leaf) const;
  // Calls visit(cells) for each leaf that is not empty, in order; nothing is kept.
  void count_anew(index_t g, const std::function<void(const LeafCells&)>& visit) const;

  // Makes `split` the last level's.
  void descend(const LevelSplit& split);
  // Whether the feature is missing in any of the sampled rows.
  bool has_missing(index_t feature) const;

 private:
  // Sampled rows of a leaf, and those of them right of a split.
  struct LeafCount {
    index_t all = 0;
    index_t right = 0;
  };

  index_t leaf_stride(index_t g) const { return (x_.groups()[g].n_codes + 1) * kCellLanes; }
  // Where a leaf's histogram begins in this level's (side_) or the last level's buffer.
  index_t offset(index_t g, int side, index_t channel, index_t leaf) const;
  std::int64_t* cells(index_t g, int side, index_t channel, index_t leaf);
  index_t n_counted() const { return std::max<index_t>(n_leaves_ / 2, 1); }
  index_t counted_leaf(index_t parent) const;
  std::vector<index_t> counted_leaves() const;
  std::int64_t* counts(index_t g, index_t stretch, index_t channel, index_t parent);
  std::vector<std::int64_t*> all_counts(index_t g, index_t stretch);
  index_t count_stretches(const Execution& execution) const;
  void add_stretches(index_t g, index_t parent, index_t n_stretches, const CodeRange& codes);
  CodeRange all_cells(index_t g) const { return {0, x_.groups()[g].n_codes + 1}; }
  void complete_leaves(index_t g, index_t parent);
  void add_up_counts(const Execution& execution);
  std::vector<LeafCount> count_leaves_by(const LevelSplit& split) const;
  LeafCount count_in_histogram(index_t leaf, const LevelSplit& split) const;
  LeafCount count_in_rows(index_t leaf, const LevelSplit& split) const;

  const BinnedMatrix& x_;
  const Tiles& tiles_;
  const QuantizedGradients& channels_;
  const RowsByLeaf* rows_ = nullptr;
  index_t most_kept_in_memory_;  // leaves whose histograms may be kept
  double most_codes_;            // of a group
  index_t most_kept_ = 0;        // of these rows
  index_t n_leaves_ = 1;
  int side_ = 0;
  std::vector<std::uint8_t> smaller_is_right_;  // for each leaf that was split
  std::vector<std::uint8_t> is_empty_;
  // [group][channel][leaf][code][lane], this level's and the next
  std::vector<Buffer<std::int64_t>> histograms_[2];
  std::vector<Buffer<std::int64_t>> apart_;  // a group's counts of further stretches
  std::vector<std::int64_t> counts_;  // of all groups, while they are added up
};

}  // namespace fctree::symmetric
