#include "symmetric/leaf_kernel.hpp"

#include <algorithm>

namespace fctree::symmetric {

namespace {

constexpr index_t kRows = 16;
constexpr index_t kColumns = 512;  // a tile of the output stays in the cache over all trees

void add_tile(const LeafKernelTask& task, index_t row, index_t n_rows, index_t column,
              index_t n_columns, double* out) {
  for (index_t tree = 0; tree < task.n_trees; ++tree) {
    const std::uint16_t* leaf_y = task.leaf_y + tree * task.n_y + column;
    for (index_t i = row; i < row + n_rows; ++i) {
      const std::uint16_t leaf = task.leaf_x[tree * task.n_x + i];
      const double weight = task.weight[tree * task.n_leaves + leaf];
      double* target = out + i * task.n_y + column;
      for (index_t j = 0; j < n_columns; ++j) target[j] += leaf_y[j] == leaf ? weight : 0.0;
    }
  }
}

}  // namespace

void add_leaf_kernel(const LeafKernelTask& task, double* out, const Execution& execution) {
  const double work = 0.2 * static_cast<double>(task.n_x) * static_cast<double>(task.n_y) *
                      static_cast<double>(task.n_trees);
  for_each_part(limit_threads(execution, work), task.n_x, kRows, [&](index_t, index_t begin, index_t end) {
    for (index_t column = 0; column < task.n_y; column += kColumns)
      add_tile(task, begin, end - begin, column, std::min(kColumns, task.n_y - column), out);
  });
}

}  // namespace fctree::symmetric
