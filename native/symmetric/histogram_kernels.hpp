// The loops over samples and bins that take nearly all of the time of symmetric boosting,
// behind one table of functions per instruction set (core/cpu.hpp).
//
// Histograms consist of cells of kCellLanes 64-bit integers, one lane per feature of the group,
// one cell per code: histogram[code * kCellLanes + lane]. Entries are sums of fixed-point numbers
// with the number of samples in the low bits (channels, quantized_gradients.hpp), so they are
// exact and the same in any order.
#pragma once

#include <cstdint>

namespace fctree::symmetric {

constexpr std::int64_t kCellLanes = 8;

// A feature's thresholds, padded so that a search of a fixed number of steps stays inside.
struct ThresholdSearch {
  static constexpr std::int64_t kCapacity = 256;
  double padded[kCapacity];
  std::int64_t first_step;  // the largest power of two that is at most their number
  std::uint8_t missing_code;

  ThresholdSearch(const double* thresholds, std::int64_t n, std::uint8_t missing)
      : first_step(1), missing_code(missing) {
    for (std::int64_t i = 0; i < kCapacity; ++i)
      padded[i] = i < n ? thresholds[i] : __builtin_inf();
    while (2 * first_step <= n) first_step *= 2;
  }
};

// Rows of one leaf within a tile of samples: their positions in the tile and their channel.
struct LeafRows {
  const std::uint16_t* rows;
  const std::int64_t* values;
  std::int64_t n_rows;
};

// Units of the channels (quantized_gradients.hpp).
struct ChannelScales {
  const double* gradient;  // (n_outputs,) value of one unit of each gradient channel
  double weight;           // of one unit of the weight channel; 0 where weight is the count
  int count_bits;
};

// The prefix sums over codes of one leaf's histograms; a cell for missing values, not part of the
// prefix sums, follows the n_codes ordinary ones.
struct LeafHistogram {
  const std::int64_t* const* gradient;  // (n_outputs,)
  const std::int64_t* weight;           // the channel whose low bits count samples
  std::int64_t n_outputs;
  std::int64_t n_codes;
};

struct CutRule {
  double l2_leaf_reg;
  bool missing_left;
  const double* direction;  // (kCellLanes,) monotone constraints -1, 0, 1, or null
  const double* n_ordered;  // (kCellLanes,) codes from here on part missing values, which are in no order
};

// Codes first .. last - 1.
struct CodeRange {
  std::int64_t first;
  std::int64_t last;
  // In their cells.
  std::int64_t n_numbers() const { return (last - first) * kCellLanes; }
};

// Sums of the candidates of some codes over the leaves of a level, (n_codes, kCellLanes) each.
struct CutScores {
  double* score;          // sum of S^2 / (W + l2) over the new leaves and outputs
  double* squared_norm;   // sum of W S^2 / (W + l2)^2, or null: the cosine score's denominator
  double* smallest_side;  // smallest number of samples in a new leaf, among leaves that are split
};

struct HistogramKernels {
  // codes[i] = number of thresholds below values[i], or the missing code; whether any is
  // missing. O(n log b).
  bool (*find_codes)(const ThresholdSearch& search, const double* values, std::int64_t n,
                     std::uint8_t* codes);
  // histogram[codes] += value for each row and each feature of the group (width of them); reads
  // eight bytes of codes per row. O(n width).
  void (*add_rows)(const LeafRows& rows, const std::uint8_t* codes, std::int64_t width,
                   std::int64_t* histogram);
  // Turns the ordinary cells into prefix sums. O(b) cells.
  void (*sum_codes)(std::int64_t* histogram, std::int64_t n_codes);
  // out = parent - child, n cells.
  void (*subtract)(const std::int64_t* parent, const std::int64_t* child, std::int64_t n_cells,
                   std::int64_t* out);
  // out = out + addend, n cells.
  void (*add)(const std::int64_t* addend, std::int64_t n_cells, std::int64_t* out);
  // Adds one leaf's contribution to the scores of the group's cuts at these codes. O(b) cells.
  void (*score_leaf)(const LeafHistogram& leaf, const CodeRange& codes, const ChannelScales& scales,
                     const CutRule& rule, const CutScores& out);
};

const HistogramKernels& histogram_kernels();

}  // namespace fctree::symmetric
