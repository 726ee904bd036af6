// The kinds of candidate directions. Each is one file, and a line of the list in directions.cpp.
//
// A kind takes part in the search of a level by the steps that it overrides, in this order:
// find, restrict, screen, propose, sparsify. What it finds are columns of node.directions.
#pragma once

#include <memory>
#include <vector>

#include "oblique/open_node.hpp"

namespace fctree::oblique {

// A kind in the search of one level, its nodes numbered from 0.
class DirectionSearch {
 public:
  DirectionSearch(const GrowState& state, SplitKind kind, const std::vector<OpenNode*>& nodes)
      : state_(state), kind_(kind), nodes_(nodes) {}
  virtual ~DirectionSearch() = default;

  // Finds the directions of all nodes; may ask for sums over their samples.
  virtual void find() {}
  // Those of a node that has drawn its features (state.draws_features()).
  virtual void restrict_to_drawn(index_t /*i*/) {}
  // Chooses among candidates of all nodes; may ask for sums over their samples.
  virtual void screen() {}
  // Appends a node's candidates: one for each column, unless a kind says otherwise.
  virtual void propose(index_t i);
  // Leaves at most max_coef features in each direction of a node, of those that it has drawn
  // (state.has_sparse_directions()).
  virtual void sparsify(index_t i) = 0;

 protected:
  OpenNode& node(index_t i) const { return *nodes_[i]; }
  Matrix& found(index_t i) const { return node(i).directions[static_cast<index_t>(kind_)]; }
  void add_candidate(index_t i, index_t index) const {
    node(i).candidates.push_back({kind_, index, {}});
  }

  const GrowState& state_;
  SplitKind kind_;
  const std::vector<OpenNode*>& nodes_;
};

struct DirectionKind {
  const char* name;  // in the estimators' `directions`
  std::unique_ptr<DirectionSearch> (*search)(const GrowState& state, SplitKind kind,
                                             const std::vector<OpenNode*>& nodes);
};

// A SplitKind is a place in this list.
const std::vector<DirectionKind>& direction_kinds();

}  // namespace fctree::oblique
