// Scores and leaves of rows in an ensemble's trees.
#pragma once

#include "core/parallel.hpp"
#include "core/table.hpp"
#include "ensembles/ensemble.hpp"

namespace fctree::ensembles {

// Scores of rows, in any layout: row i and output k are at i * row_stride + k * output_stride.
struct ScoreSpan {
  double* scores;
  index_t row_stride;
  index_t output_stride;
};

// Trees first .. last - 1.
struct TreeRange {
  index_t first;
  index_t last;
};

// Adds to each of the n_rows rows of x the scores of some trees, in their order.
// O(depth d + K d) per row and tree.
void add_trees(const ObliqueTreesView& trees, const TreeRange& range, const Table& x,
               index_t n_rows, const ScoreSpan& out, const Execution& execution);

// Leaves of rows, (n_rows, n_trees): node numbers within each tree, or the leaves' numbers over all trees.
struct LeafNumbers {
  index_t* leaf;
  bool over_all;
};
void apply_trees(const ObliqueTreesView& trees, index_t n_trees, const double* x, index_t n_rows,
                 const LeafNumbers& out, const Execution& execution);

}  // namespace fctree::ensembles
