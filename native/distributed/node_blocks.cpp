#include "distributed/node_blocks.hpp"

#include <algorithm>

namespace fctree::distributed {

void NodeBlocks::group(index_t n_nodes) {
  const index_t n_samples = static_cast<index_t>(node_.size());
  n_nodes_ = n_nodes;
  rows_.resize(n_samples);
  offsets_.resize(blocks_.n_here * (n_nodes + 1));
  index_t filled = 0;
  std::vector<index_t> next(n_nodes);
  for (index_t b = 0; b < blocks_.n_here; ++b) {
    const index_t begin = blocks_.begin(blocks_.first + b);
    const index_t end = blocks_.end(blocks_.first + b, n_samples);
    std::fill(next.begin(), next.end(), 0);
    for (index_t i = begin; i < end; ++i)
      if (node_[i] >= 0) ++next[node_[i]];
    index_t* at = offsets_.data() + b * (n_nodes + 1);
    for (index_t s = 0; s < n_nodes; ++s) {
      at[s] = filled;
      filled += next[s];
      next[s] = at[s];
    }
    at[n_nodes] = filled;
    for (index_t i = begin; i < end; ++i)
      if (node_[i] >= 0) rows_[next[node_[i]]++] = static_cast<std::int32_t>(i);
  }
}

}  // namespace fctree::distributed
