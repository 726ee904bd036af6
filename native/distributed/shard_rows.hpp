// The samples that one of many places holds, and sums over them.
//
// All samples of a fit are cut into blocks of a fixed number of rows. A sum over samples goes
// along a binary tree over the blocks, each node of which adds its right half to its left one;
// within a block it goes in the order of the rows. A place holds a run of whole blocks and
// gives the sums of `pieces`: the largest nodes of the tree that it holds all of. Whoever joins
// the pieces of all places goes on along the same tree: so a sum is the same bytes wherever the
// blocks are.
#pragma once

#include <functional>
#include <vector>

#include "core/parallel.hpp"
#include "ridge/moments.hpp"

namespace fctree::distributed {

using namespace ridge;

// Blocks begin .. begin + size - 1 of all, size a power of two, but for those behind the end.
struct Piece {
  index_t begin;
  index_t size;
};

struct ShardBlocks {
  index_t block_rows;
  index_t first;  // block of this place
  index_t n_blocks;
  std::vector<Piece> pieces;
};

// Rows of the nodes of a level, block by block: those of a node in a block are
// rows[offsets[block * (n_nodes + 1) + node]] and on.
struct ShardNodes {
  const std::int32_t* rows;
  const index_t* offsets;
  index_t n_nodes;
};

struct ShardRows {
  TrainingData data;
  ShardBlocks blocks;
  ShardNodes nodes;

  // `block` counts all blocks.
  NodeRows rows_of(index_t node, index_t block) const {
    const index_t* at = nodes.offsets + (block - blocks.first) * (nodes.n_nodes + 1) + node;
    return {nodes.rows + at[0], at[1] - at[0]};
  }
};

// Orders rows by block and node: node (n_samples) is a node's number, or negative for none. Fills
// rows (as many as are in nodes) and offsets (n_blocks, n_nodes + 1). O(n).
void group_rows(const std::int32_t* node, index_t n_samples, index_t n_nodes,
                const ShardBlocks& blocks, std::int32_t* rows, index_t* offsets);

// add(item, block, out) adds an item's sum over a block to out (item_size). The result is
// (n_pieces, n_items, item_size).
struct SumShape {
  index_t n_items;
  index_t item_size;
};
using AddBlock = std::function<void(index_t item, index_t block, double* out)>;
std::vector<double> sum_pieces(const ShardBlocks& blocks, const SumShape& shape,
                               const AddBlock& add, const Execution& execution);

}  // namespace fctree::distributed
