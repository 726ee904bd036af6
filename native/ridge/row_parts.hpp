// The rows of some nodes cut into parts, each a task: a large node is many, a small one is one.
#pragma once

#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "ridge/training_data.hpp"

namespace fctree::ridge {

class RowParts {
 public:
  struct Part {
    index_t node;
    index_t begin;  // of its first row in the node
    NodeRows rows;
  };

  // Of each node as many as partition_range makes.
  explicit RowParts(const std::vector<NodeRows>& nodes, index_t min_length,
                    index_t max_parts = std::numeric_limits<index_t>::max()) {
    for (const NodeRows& node : nodes) {
      const Partition cut = partition_range(node.size, min_length, max_parts);
      first_.push_back(n());
      for (index_t p = 0; p < cut.n_parts; ++p)
        parts_.push_back({n_nodes() - 1, cut.begin(p),
                          {node.rows + cut.begin(p), cut.end(p) - cut.begin(p)}});
    }
    first_.push_back(n());
  }

  index_t n() const { return static_cast<index_t>(parts_.size()); }
  const Part& operator[](index_t part) const { return parts_[part]; }
  // The parts of a node are first(node) .. first(node + 1) - 1.
  index_t first(index_t node) const { return first_[node]; }

 private:
  index_t n_nodes() const { return static_cast<index_t>(first_.size()); }

  std::vector<Part> parts_;
  std::vector<index_t> first_;
};

}  // namespace fctree::ridge
