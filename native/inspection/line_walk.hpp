// Path attributions (Aumann and Shapley, 1974) of an oblique tree: along the straight line from a
// background sample b to a sample x its score is linear between the splits that the line crosses.
// A feature gets what its coefficient contributes on each piece, and a share of each jump in proportion to
// its term of the crossed split. Exact, O(crossed nodes and leaves times their features).
#pragma once

#include <vector>

#include "inspection/sparse_trees.hpp"

namespace fctree::inspection {

class LineWalk {
 public:
  explicit LineWalk(const SparseTrees& trees) : trees_(trees), ended_(trees.view.n_outputs) {}

  // Adds to phi (n_players, n_outputs).
  void add(const double* x, const double* b, index_t tree, double* phi);

 private:
  // A part [begin, end] of the line below a node, and the split that is crossed at its start, -1 for
  // none.
  struct Part {
    index_t node;
    double begin, end;
    index_t crossed;
  };
  struct Sums {
    double of_x, of_b;
  };

  Sums sums(const Terms& terms) const;
  void add_piece(const TreeNodes& tree, const Part& part);
  void add_jump(index_t split, index_t output, double height);

  const SparseTrees& trees_;
  const double* x_ = nullptr;
  const double* b_ = nullptr;
  double* phi_ = nullptr;
  std::vector<double> ended_;  // (n_outputs) scores at the end of the last piece
  std::vector<Part> waiting_;
};

}  // namespace fctree::inspection
