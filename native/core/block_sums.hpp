// Sums of doubles over samples, the same bytes wherever the samples are.
//
// All samples of a fit are cut into blocks of a fixed number of rows. A sum goes along a binary tree
// over the blocks, each node of which adds its right half to its left one; within a block it goes
// in the order of the rows. A place holds a run of whole blocks and sums up its pieces: the largest
// nodes of the tree that it holds all of. The collective goes on along the same tree.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "core/collective.hpp"
#include "core/parallel.hpp"

namespace fctree {

struct RowBlocks {
  index_t block_rows;
  index_t first;  // block of this place
  index_t n_here;
  index_t n_blocks;  // of all places
  std::vector<Piece> pieces;

  // Rows of a block, which counts those of all places, numbered in this place.
  index_t begin(index_t block) const { return (block - first) * block_rows; }
  index_t end(index_t block, index_t n_samples) const {
    return std::min(n_samples, begin(block) + block_rows);
  }
};

// add(item, block, out) adds an item's sum over a block of this place to out (item_size). The result
// is that of all places, (n_items, item_size).
struct SumShape {
  index_t n_items;
  index_t item_size;
};
using AddBlock = std::function<void(index_t item, index_t block, double* out)>;
std::vector<double> sum_blocks(const RowBlocks& blocks, const SumShape& shape,
                               const AddBlock& add, const Execution& execution);

}  // namespace fctree
