// Products of matrices, behind one table of functions per instruction set (core/cpu.hpp).
#pragma once

#include <cstdint>

namespace fctree::ridge {

// Entries (i, j) of a matrix are at data[i * row_stride + j * column_stride].
struct MatrixView {
  const double* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

// factor a b, a (n_rows, n_inner), b (n_inner, n_columns).
struct Product {
  double factor;
  MatrixView a;
  MatrixView b;
  std::int64_t n_rows;
  std::int64_t n_inner;
  std::int64_t n_columns;
};

struct ProductKernels {
  // Doubles of scratch that `add` needs.
  std::int64_t (*scratch_size)(const Product& product);
  // out += the product; out has columns of `stride` doubles. Terms are added in the order of the inner index, so that
  // x x' is symmetric. O(n_rows n_inner n_columns).
  void (*add)(const Product& product, double* scratch, double* out, std::int64_t stride);
};

const ProductKernels& product_kernels();

}  // namespace fctree::ridge
