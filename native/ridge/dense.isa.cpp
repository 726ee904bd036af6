// The kernels of ridge/dense.hpp, compiled once per instruction set.
#include "ridge/dense.hpp"

#include "core/simd.hpp"

namespace fctree::ridge::FCTREE_ISA {

using namespace fctree::FCTREE_ISA;

namespace {

// A register block: kBlockRows rows of the product times up to kBlockPacks packs of its
// columns are summed in registers over a tile (8 x 3 packs of 8 with AVX-512's 32
// registers; 4 x 3 of 4 and 4 x 2 of 2 with the 16 of AVX2 and SSE2).
constexpr int kBlockRows = kLanes == 8 ? 8 : 4;
constexpr int kBlockPacks = kLanes == 2 ? 2 : 3;

// Both sides of the products of a tile, (n_rows, width) each: left carries the factor.
struct Tile {
  const double* left;
  const double* right;
  std::int64_t n_rows;
  std::int64_t width;
  std::int64_t n_features;
};

template <int kPacks>
void add_block(const Tile& tile, std::int64_t row, std::int64_t column, double* products) {
  Pack sums[kBlockRows][kPacks] = {};
  const double* left = tile.left + row;
  const double* right = tile.right + column;
  for (std::int64_t r = 0; r < tile.n_rows; ++r, left += tile.width, right += tile.width) {
    Pack values[kPacks];
    for (int p = 0; p < kPacks; ++p) values[p] = load(right + p * kLanes);
    for (int i = 0; i < kBlockRows; ++i) {
      const Pack factor = broadcast(left[i]);
      for (int p = 0; p < kPacks; ++p) sums[i][p] += factor * values[p];
    }
  }
  for (int i = 0; i < kBlockRows; ++i)
    for (int p = 0; p < kPacks; ++p) {
      double* target = products + (row + i) * tile.width + column + p * kLanes;
      store(target, load(target) + sums[i][p]);
    }
}

// Those of a block's rows from the diagonal on.
void add_rows(const Tile& tile, std::int64_t row, double* products) {
  std::int64_t column = row / kLanes * kLanes;
  for (; column + kBlockPacks * kLanes <= tile.width; column += kBlockPacks * kLanes)
    add_block<kBlockPacks>(tile, row, column, products);
  const std::int64_t packs_left = (tile.width - column) / kLanes;
  if (packs_left == 2) add_block<2>(tile, row, column, products);
  if (packs_left == 1) add_block<1>(tile, row, column, products);
}

// Sums and squares of the outputs.
void add_outputs(const Tile& tile, double* sums, double* squares) {
  for (std::int64_t column = tile.n_features / kLanes * kLanes; column < tile.width; column += kLanes) {
    Pack sum{}, square{};
    for (std::int64_t at = column; at < tile.n_rows * tile.width; at += tile.width) {
      const Pack left = load(tile.left + at);
      sum += left;
      square += left * load(tile.right + at);
    }
    store(sums + column, load(sums + column) + sum);
    store(squares + column, load(squares + column) + square);
  }
}

void add_tile(const Tile& tile, double* products) {
  for (std::int64_t row = 0; row < tile.n_features; row += kBlockRows) add_rows(tile, row, products);
  add_outputs(tile, products + sums_row(tile.n_features) * tile.width,
              products + squares_row(tile.n_features) * tile.width);
}

// out = in - origin, and zeros up to a whole vector.
inline void subtract(const double* in, const double* origin, std::int64_t n, double* out) {
  std::int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) store(out + j, load(in + j) - load(origin + j));
  const int rest = static_cast<int>(n - j);
  if (rest > 0) store(out + j, load_first(in + j, rest) - load_first(origin + j, rest));
}

// Rows are gathered: prefetch the one some rows ahead of row i.
inline void prefetch_ahead(const RowSelection& s, std::int64_t i) {
  constexpr std::int64_t kAhead = 24;
  if (i + kAhead >= s.n_rows) return;
  const double* next = s.x + s.rows[i + kAhead] * s.n_features;
  for (std::int64_t j = 0; j < s.n_features; j += 8) __builtin_prefetch(next + j);
  __builtin_prefetch(s.y + s.rows[i + kAhead] * s.n_outputs);
}

void pack_rows(const RowSelection& s, std::int64_t begin, std::int64_t n_rows,
               const double* origin, double* out) {
  const std::int64_t width = packed_width(s.n_features, s.n_outputs);
  for (std::int64_t r = 0; r < n_rows; ++r, out += width) {
    const std::int64_t row = s.rows[begin + r];
    prefetch_ahead(s, begin + r);
    const std::int64_t used = s.n_features + s.n_outputs;
    subtract(s.x + row * s.n_features, origin, s.n_features, out);
    const double* y = s.y + row * s.n_outputs;
    for (std::int64_t k = 0; k < s.n_outputs; ++k)
      out[s.n_features + k] = y[k] - origin[s.n_features + k];
    out[used] = 1.0;
    for (std::int64_t j = used + 1; j < width; ++j) out[j] = 0.0;
  }
}

void scale_rows(const RowSelection& s, std::int64_t begin, std::int64_t n_rows,
                const double* tile, double* out) {
  const std::int64_t width = packed_width(s.n_features, s.n_outputs);
  for (std::int64_t r = 0; r < n_rows; ++r) {
    const Pack factor = broadcast(s.factor[s.rows[begin + r]]);
    for (std::int64_t j = 0; j < width; j += kLanes)
      store(out + r * width + j, factor * load(tile + r * width + j));
  }
}

void add_products(const RowSelection& s, const double* origin, double* tile, double* products) {
  const std::int64_t width = packed_width(s.n_features, s.n_outputs);
  double* scaled = tile + kTileRows * width;
  for (std::int64_t begin = 0; begin < s.n_rows; begin += kTileRows) {
    const std::int64_t n_rows = s.n_rows - begin < kTileRows ? s.n_rows - begin : kTileRows;
    pack_rows(s, begin, n_rows, origin, tile);
    if (s.factor != nullptr) scale_rows(s, begin, n_rows, tile, scaled);
    add_tile({s.factor != nullptr ? scaled : tile, tile, n_rows, width, s.n_features}, products);
  }
}

// sums and squares (n) of a row about its origin
inline void add_moments(const double* in, const double* origin, std::int64_t n, double weight,
                        double* sums, double* squares) {
  const Pack factor = broadcast(weight);
  std::int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    const Pack difference = load(in + j) - load(origin + j);
    const Pack weighted = factor * difference;
    store(sums + j, load(sums + j) + weighted);
    store(squares + j, load(squares + j) + weighted * difference);
  }
  for (; j < n; ++j) {
    const double difference = in[j] - origin[j];
    sums[j] += weight * difference;
    squares[j] += weight * difference * difference;
  }
}

void add_diagonal(const RowSelection& s, const double* origin, double* sums) {
  const std::int64_t d = s.n_features, used = d + s.n_outputs;
  double* squares = sums + 1 + used;
  for (std::int64_t i = 0; i < s.n_rows; ++i) {
    const std::int64_t row = s.rows[i];
    prefetch_ahead(s, i);
    const double weight = s.factor == nullptr ? 1.0 : s.factor[row];
    sums[0] += weight;
    add_moments(s.x + row * d, origin, d, weight, sums + 1, squares);
    add_moments(s.y + row * s.n_outputs, origin + d, s.n_outputs, weight, sums + 1 + d,
                squares + d);
  }
}

void add_to_bins(const ScreenedFeature& f, const BinTerms& rows, std::int64_t n_rows, double* bins,
                 double* own) {
  const auto [terms_begin, width, residuals_begin, n_outputs] = rows;
  const double* terms = terms_begin;
  const double* residuals = residuals_begin;
  for (std::int64_t i = 0; i < n_rows; ++i, terms += width, residuals += n_outputs) {
    const auto equal_bin = static_cast<std::int64_t>((f.x[i] - f.lowest) * f.bins_per_unit);
    const std::int64_t bin = equal_bin < kScreeningBins ? equal_bin : kScreeningBins - 1;
    double* sums = bins + bin * width;
    for (std::int64_t j = 0; j < width; j += kLanes)
      store(sums + j, load(sums + j) + load(terms + j));
    const double standardised = (f.x[i] - f.mean) * f.inverse_spread;
    for (std::int64_t k = 0; k < n_outputs; ++k)
      own[bin * n_outputs + k] += residuals[k] * standardised;
  }
}

void project(const RowSelection& s, const double* directions, std::int64_t n_directions,
             double* scores, std::int64_t score_stride) {
  std::int64_t i = 0;
  for (; i + 4 <= s.n_rows; i += 4) {
    const double* rows[4];
    for (int r = 0; r < 4; ++r) {
      prefetch_ahead(s, i + r);
      rows[r] = s.x + s.rows[i + r] * s.n_features;
    }
    for (std::int64_t k = 0; k < n_directions; ++k)
      dot_four(directions + k * s.n_features, rows, s.n_features, scores + k * score_stride + i);
  }
  for (; i < s.n_rows; ++i) {
    const double* row = s.x + s.rows[i] * s.n_features;
    for (std::int64_t k = 0; k < n_directions; ++k)
      scores[k * score_stride + i] = dot(directions + k * s.n_features, row, s.n_features);
  }
}

// Rows of `stride` doubles, as those of the tile, above the diagonal of a (d, d) matrix.
struct Triangle {
  const double* values;
  std::int64_t stride;
  std::int64_t d;
};

// out[i] += |rows of the tile times a block of columns of the factor|^2
template <int kPacks>
void add_squared_block(const double* rows, std::int64_t n_rows, const Triangle& triangle,
                       std::int64_t column, double* out) {
  const auto [factor, stride, d] = triangle;
  constexpr int kRows = 4;
  const std::int64_t last = column + kPacks * kLanes < d ? column + kPacks * kLanes : d;
  for (std::int64_t begin = 0; begin < n_rows; begin += kRows) {
    Pack sums[kRows][kPacks] = {};
    for (std::int64_t j = 0; j < last; ++j) {
      const double* factors = factor + j * stride + column;
      Pack values[kPacks];
      for (int p = 0; p < kPacks; ++p) values[p] = load(factors + p * kLanes);
      for (int i = 0; i < kRows; ++i) {
        const Pack multiplier = broadcast(rows[(begin + i) * stride + j]);
        for (int p = 0; p < kPacks; ++p) sums[i][p] += multiplier * values[p];
      }
    }
    for (int i = 0; i < kRows && begin + i < n_rows; ++i) {
      Pack squares{};
      for (int p = 0; p < kPacks; ++p) squares += sums[i][p] * sums[i][p];
      out[begin + i] += sum(squares);
    }
  }
}

void leverages(const RowSelection& s, const double* mean, const double* inverse_factor,
               double* tile, double* out) {
  const std::int64_t d = s.n_features;
  const std::int64_t stride = (d + 7) / 8 * 8;
  for (std::int64_t begin = 0; begin < s.n_rows; begin += kTileRows, out += kTileRows) {
    const std::int64_t n_rows = s.n_rows - begin < kTileRows ? s.n_rows - begin : kTileRows;
    for (std::int64_t r = 0; r < n_rows; ++r) {
      prefetch_ahead(s, begin + r);
      subtract(s.x + s.rows[begin + r] * d, mean, d, tile + r * stride);
      out[r] = 0.0;
    }
    constexpr int kPacks = kLanes == 8 ? 4 : 2;
    std::int64_t column = 0;
    for (; column + kPacks * kLanes <= stride; column += kPacks * kLanes)
      add_squared_block<kPacks>(tile, n_rows, {inverse_factor, stride, d}, column, out);
    for (; column < stride; column += kLanes)
      add_squared_block<1>(tile, n_rows, {inverse_factor, stride, d}, column, out);
  }
}

// Rows go down together, one level at a time, so that their memory accesses overlap.
template <bool kManyTrees>
void route_all(const RoutingArrays& trees, const Descents& rows, std::int64_t* node) {
  const auto [x, n, stride, roots] = rows;
  for (bool moving = true; moving;) {
    moving = false;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t at = (kManyTrees ? roots[i] : 0) + node[i];
      if (trees.children_left[at] < 0) continue;
      const double score = dot(trees.coef + at * trees.n_features, x + i * stride, trees.n_features);
      // Selected by a mask: a branch would be mispredicted half of the time.
      const std::int64_t goes_left = -static_cast<std::int64_t>(score <= trees.threshold[at]);
      const std::int64_t right = trees.children_right[at];
      node[i] = right ^ ((trees.children_left[at] ^ right) & goes_left);
      moving = true;
    }
  }
}

void route(const RoutingArrays& trees, const Descents& rows, std::int64_t* node) {
  rows.roots == nullptr ? route_all<false>(trees, rows, node) : route_all<true>(trees, rows, node);
}

void evaluate_leaves(const LinearModelArrays& leaves, const std::int64_t* slot, const Descents& rows,
                     double* out) {
  const auto [coef, intercept, n_features, n_outputs] = leaves;
  for (std::int64_t i = 0; i < rows.n; ++i)
    for (std::int64_t k = 0; k < n_outputs; ++k) {
      const std::int64_t model = slot[i] * n_outputs + k;
      out[i * n_outputs + k] =
          intercept[model] + dot(coef + model * n_features, rows.x + i * rows.stride, n_features);
    }
}

}  // namespace

extern const DenseKernels dense_table;
const DenseKernels dense_table = {add_products, project, add_diagonal,   add_to_bins,
                                  leverages,    route,   evaluate_leaves};

}  // namespace fctree::ridge::FCTREE_ISA
