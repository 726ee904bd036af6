// The kernels of ridge/matrix_product.hpp, compiled once per instruction set.
#include "ridge/matrix_product.hpp"

#include "core/simd.hpp"

namespace fctree::ridge::FCTREE_ISA {

using namespace fctree::FCTREE_ISA;

namespace {

// A block of the product is summed in registers: kMostPacks packs of its rows times kColumns (24 x 8 with AVX-512's
// 32 registers, 12 x 4 and 4 x 4 with the 16 of AVX2 and SSE2).
constexpr int kMostPacks = kLanes == 2 ? 2 : 3;
constexpr int kColumns = kLanes == 8 ? 8 : 4;
constexpr std::int64_t kMostRows = kMostPacks * kLanes;

// As many inner indices at once: what a block reads of both matrices stays in the first cache.
constexpr std::int64_t kDepth = 128;

inline std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

std::int64_t scratch_size(const Product& product) {
  const std::int64_t columns = (product.n_columns + kColumns - 1) / kColumns * kColumns;
  return least(product.n_inner, kDepth) * (kMostRows + columns);
}

// Inner indices begin .. begin + depth - 1 of `used` rows from `first` on, `width` numbers each: zeros after the rows.
void pack_rows(const Product& product, std::int64_t first, std::int64_t width, std::int64_t begin,
               std::int64_t depth, double* out) {
  const auto [data, row_stride, column_stride] = product.a;
  const std::int64_t used = least(width, product.n_rows - first);
  const double* from = data + first * row_stride + begin * column_stride;
  for (std::int64_t p = 0; p < depth; ++p, out += width, from += column_stride) {
    for (std::int64_t i = 0; i < used; ++i) out[i] = product.factor * from[i * row_stride];
    for (std::int64_t i = used; i < width; ++i) out[i] = 0.0;
  }
}

// kColumns columns of b next to each other, block after block; zeros after the last one.
void pack_columns(const Product& product, std::int64_t begin, std::int64_t depth, double* out) {
  const auto [data, row_stride, column_stride] = product.b;
  for (std::int64_t first = 0; first < product.n_columns; first += kColumns, out += depth * kColumns)
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const bool is_used = first + j < product.n_columns;
      const double* from = data + begin * row_stride + (first + j) * column_stride;
      for (std::int64_t p = 0; p < depth; ++p) out[p * kColumns + j] = is_used ? from[p * row_stride] : 0.0;
    }
}

// A block of the product: its first entry, and how many rows and columns there are from there on.
struct Block {
  double* out;
  std::int64_t stride;
  std::int64_t n_rows;
  std::int64_t n_columns;
};

template <int kPacks>
void add_block(const double* rows, const double* columns, std::int64_t depth, const Block& block) {
  Pack sums[kColumns][kPacks] = {};
  for (std::int64_t p = 0; p < depth; ++p, rows += kPacks * kLanes, columns += kColumns) {
    Pack own[kPacks];
    for (int q = 0; q < kPacks; ++q) own[q] = load(rows + q * kLanes);
    for (int j = 0; j < kColumns; ++j) {
      const Pack factor = broadcast(columns[j]);
      for (int q = 0; q < kPacks; ++q) sums[j][q] += factor * own[q];
    }
  }
  for (int j = 0; j < kColumns && j < block.n_columns; ++j)
    for (int q = 0; q < kPacks; ++q) {
      double* out = block.out + j * block.stride + q * kLanes;
      const std::int64_t left = block.n_rows - q * kLanes;
      if (left >= kLanes) {
        store(out, load(out) + sums[j][q]);
      } else {
        for (std::int64_t i = 0; i < left; ++i) out[i] += sums[j][q][i];
      }
    }
}

template <int kPacks>
void add_rows(const double* rows, const double* columns, std::int64_t depth, Block block) {
  for (; block.n_columns > 0; block.n_columns -= kColumns) {
    add_block<kPacks>(rows, columns, depth, block);
    columns += depth * kColumns;
    block.out += kColumns * block.stride;
  }
}

void add(const Product& product, double* scratch, double* out, std::int64_t stride) {
  double* rows = scratch;
  for (std::int64_t begin = 0; begin < product.n_inner; begin += kDepth) {
    const std::int64_t depth = least(kDepth, product.n_inner - begin);
    double* columns = rows + depth * kMostRows;
    pack_columns(product, begin, depth, columns);
    for (std::int64_t i = 0; i < product.n_rows; i += kMostRows) {
      const std::int64_t left = product.n_rows - i;
      const Block block = {out + i, stride, left, product.n_columns};
      const std::int64_t packs = least(kMostPacks, (left + kLanes - 1) / kLanes);
      pack_rows(product, i, packs * kLanes, begin, depth, rows);
      if (packs == 1) add_rows<1>(rows, columns, depth, block);
      if (packs == 2) add_rows<2>(rows, columns, depth, block);
      if (packs == 3) add_rows<kMostPacks>(rows, columns, depth, block);
    }
  }
}

}  // namespace

extern const ProductKernels product_table;
const ProductKernels product_table = {scratch_size, add};

}  // namespace fctree::ridge::FCTREE_ISA
