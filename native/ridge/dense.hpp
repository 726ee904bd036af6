// The loops over samples that take nearly all of an oblique tree's time, behind one table of
// functions per instruction set (core/cpu.hpp).
//
// Packed rows: the kernels that sum products work on rows [x - x0, y - y0, 1, 0 ..] of
// `packed_width(d, K)` doubles, so that one pass gives all moments of a node. Of packed products the
// first d rows are those of the features, X'[X, Y, 1]; of outputs there are only the sums and the
// squares, in the last two rows. What is between them, and in these below the outputs, means nothing.
#pragma once

#include <cstdint>

namespace fctree::ridge {

// Rows of the training data picked by index, each with a factor (its weight) or none.
struct RowSelection {
  const double* x;        // (n_samples, n_features), row-major
  const double* y;        // (n_samples, n_outputs), row-major
  const double* factor;   // (n_samples,) or null for ones
  const std::int32_t* rows;
  std::int64_t n_rows;
  std::int64_t n_features;
  std::int64_t n_outputs;
};

// The arrays of a tree that route samples.
struct RoutingArrays {
  const std::int64_t* children_left;
  const std::int64_t* children_right;
  const double* threshold;
  const double* coef;  // (n_nodes, n_features)
  std::int64_t n_features;
};

// A feature's values (n_rows,), cut into kScreeningBins equal bins from `lowest` on, and their
// standardisation.
constexpr std::int64_t kScreeningBins = 32;
struct ScreenedFeature {
  const double* x;
  double lowest;
  double bins_per_unit;
  double mean;
  double inverse_spread;
};

// Contributions of rows to the bins of a feature: terms (n_rows, width), whole vectors, and the
// residuals (n_rows, n_outputs) that multiply the feature itself.
struct BinTerms {
  const double* terms;
  std::int64_t width;
  const double* residuals;
  std::int64_t n_outputs;
};

// Rows that go down trees, `stride` numbers apart: row by row in one tree, or with a stride of 0 one
// row in many trees, whose nodes are numbered from `roots` on.
struct Descents {
  const double* x;
  std::int64_t n;
  std::int64_t stride;
  const std::int64_t* roots;  // (n,), or null for one tree
};

// Linear models of leaves: coef (n_leaves, n_outputs, n_features), intercept (n_leaves, n_outputs).
struct LinearModelArrays {
  const double* coef;
  const double* intercept;
  std::int64_t n_features;
  std::int64_t n_outputs;
};

constexpr std::int64_t packed_width(std::int64_t n_features, std::int64_t n_outputs) {
  return (n_features + n_outputs + 1 + 7) / 8 * 8;
}
constexpr std::int64_t sums_row(std::int64_t n_features) { return (n_features + 7) / 8 * 8; }
constexpr std::int64_t squares_row(std::int64_t n_features) { return sums_row(n_features) + 1; }
constexpr std::int64_t packed_rows(std::int64_t n_features) { return sums_row(n_features) + 2; }
constexpr std::int64_t packed_size(std::int64_t n_features, std::int64_t n_outputs) {
  return packed_rows(n_features) * packed_width(n_features, n_outputs);
}

struct DenseKernels {
  // products += sum over the rows of factor * z z', z the packed row with origin `origin`
  // (n_features + n_outputs); only the blocks on and above the diagonal are written.
  // products is (packed_rows, width), tile holds 2 * kTileRows * width doubles of scratch.
  // O(n d (d / 2 + K)).
  void (*add_products)(const RowSelection& selection, const double* origin, double* tile,
                       double* products);
  // scores[k * score_stride + i] = directions[k] . x of row i, for n_directions rows of
  // n_features. O(n d) each.
  void (*project)(const RowSelection& selection, const double* directions,
                  std::int64_t n_directions, double* scores, std::int64_t score_stride);
  // sums += [weight, w z, w z^2], z the rows about `origin` (n_features + n_outputs), w their
  // factor: 1 + 2 (d + K) numbers. O(n (d + K)).
  void (*add_diagonal)(const RowSelection& selection, const double* origin, double* sums);
  // bins[b] += terms of the row and own[b] += the standardised feature times its residuals, b the
  // row's bin: bins (kScreeningBins, width), own (kScreeningBins, n_outputs). O(n (width + K)).
  void (*add_to_bins)(const ScreenedFeature& feature, const BinTerms& rows, std::int64_t n_rows,
                      double* bins, double* own);
  // out[i] = |G' (x - mean)|^2 of row i, G = inverse_factor (upper, rows of spd_stride): its
  // leverage in a ridge fit. tile holds kTileRows * packed_width(d, 0) doubles of
  // scratch. O(n d^2 / 2).
  void (*leverages)(const RowSelection& selection, const double* mean,
                    const double* inverse_factor, double* tile, double* out);
  // node[i], where descent i begins, becomes the leaf that it ends in. O(d) per level.
  void (*route)(const RoutingArrays& trees, const Descents& rows, std::int64_t* node);
  // out[i] = intercept[leaf] + coef[leaf] . x for each output, leaf = slot[i].
  void (*evaluate_leaves)(const LinearModelArrays& leaves, const std::int64_t* slot,
                          const Descents& rows, double* out);
};

constexpr std::int64_t kTileRows = 64;

// The table for the instruction set in use.
const DenseKernels& dense_kernels();

}  // namespace fctree::ridge
