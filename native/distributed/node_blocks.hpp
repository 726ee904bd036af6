// The rows of the nodes of a level, block by block (core/block_sums.hpp).
#pragma once

#include <vector>

#include "core/block_sums.hpp"
#include "ridge/training_data.hpp"

namespace fctree::distributed {

using namespace ridge;

class NodeBlocks {
 public:
  NodeBlocks(const RowBlocks& blocks, index_t n_samples) : blocks_(blocks), node_(n_samples, 0) {}

  // The node of each row, negative for none, to be set before group().
  std::vector<std::int32_t>& node() { return node_; }
  // O(n).
  void group(index_t n_nodes);

  const RowBlocks& blocks() const { return blocks_; }
  // `block` counts those of all places.
  NodeRows rows(index_t node, index_t block) const {
    const index_t* at = offsets_.data() + (block - blocks_.first) * (n_nodes_ + 1) + node;
    return {rows_.data() + at[0], at[1] - at[0]};
  }

 private:
  const RowBlocks& blocks_;
  index_t n_nodes_ = 0;
  std::vector<std::int32_t> node_;
  std::vector<std::int32_t> rows_;
  std::vector<index_t> offsets_;  // of a block's nodes in rows_, (n_here, n_nodes + 1)
};

}  // namespace fctree::distributed
