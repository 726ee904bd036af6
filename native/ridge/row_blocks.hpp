// Training samples whose features need not be in memory: kernels get them some rows at a time.
#pragma once

#include <functional>
#include <vector>

#include "ridge/dense.hpp"
#include "ridge/training_data.hpp"

namespace fctree::ridge {

// Rows as kernels read them, where the features are in memory.
inline RowSelection select(const TrainingData& data, const NodeRows& rows, const double* factor = nullptr) {
  return {data.x, data.y, factor, rows.rows, rows.size, data.n_features, data.n_outputs};
}

// Calls use(selection, first) for rows that kernels can read, all of the node in their order: at once where the
// features are in memory, else blocks of them that are copied, `first` the place of a block's first row in
// the node. Blocks end where kernels end a step of their own, so that results are the same.
void for_each_selection(const TrainingData& data, const NodeRows& node, const double* factor,
                        const std::function<void(const RowSelection&, index_t first)>& use);

// Rows first .. first + size - 1, (size, n_features): where they lie, or in `buffer`.
const double* read_block(const TrainingData& data, index_t first, index_t size,
                         std::vector<double>& buffer);

// out (n_rows) = a feature of some rows.
void read_feature(const TrainingData& data, const NodeRows& rows, index_t feature, double* out);

// Rows of work that is done in a fraction of a second: whole tiles, unless they are wide.
index_t rows_at_a_time(index_t width);

}  // namespace fctree::ridge
