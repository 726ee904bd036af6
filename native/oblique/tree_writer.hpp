// Writes the nodes of a tree into its arrays, in breadth-first order, and what its features gain.
#pragma once

#include "oblique/open_node.hpp"
#include "oblique/tree.hpp"

namespace fctree::oblique {

// How a split goes into the arrays: its direction (d) as found, of a ridge direction the output and the intercept too.
struct WrittenSplit {
  SplitKind kind;
  Vector direction;
  double threshold;
  index_t output = -1;
  double intercept = 0.0;
};

class TreeWriter {
 public:
  explicit TreeWriter(const GrowState& state);

  const ObliqueTreeArrays& tree() const { return tree_; }
  // Before the root.
  void set_scales(const OpenNode& root);
  // Gives the node its id and its entries in the arrays, initially as a leaf.
  void open(OpenNode& node);
  // The children get ids.
  void split(const OpenNode& node, const WrittenSplit& split, OpenNode& left, OpenNode& right);
  // As a leaf with its model.
  void close(const OpenNode& node);
  ObliqueTreeArrays take();

 private:
  double gain_of(double decrease) const;
  void add_gain(const OpenNode& node, const Vector& direction, double decrease);

  const GrowState& state_;
  ObliqueTreeArrays tree_;
};

}  // namespace fctree::oblique
