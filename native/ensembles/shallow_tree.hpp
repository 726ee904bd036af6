// The first three levels of a tree, and its leaves if there are no others, packed for
// shallow_kernels.hpp: a third of the time of one product after the other, to the same bytes.
#pragma once

#include <vector>

#include "ensembles/ensemble.hpp"
#include "ensembles/shallow_kernels.hpp"

namespace fctree::ensembles {

class ShallowTree {
 public:
  // O(8 K d).
  ShallowTree(const ObliqueTreesView& trees, index_t tree);
  ShallowTree() = default;

  bool exists() const { return !nodes_.empty(); }
  bool is_whole() const { return !leaves_.empty(); }
  // node (kShallowRows,): where the rows x (n_features, kShallowRows) leave the three levels.
  void route(const double* x, std::int64_t* node) const;
  // Adds the scores of a whole tree to sums (n_outputs, kShallowRows).
  void add_scores(const double* x, double* sums) const;

 private:
  struct Models {
    std::vector<std::int32_t> begin, features;
    std::vector<double> coef;
    SideBySide view() const { return {begin.data(), features.data(), coef.data()}; }
  };
  struct Leaves {
    Models models;
    std::vector<double> intercept, lower, upper;
  };
  using Eight = std::vector<const double*>;  // coefficients, null for a model of zeros

  static Models side_by_side(const Eight& coef, index_t n_features);
  void add_leaves(const ObliqueTreesView& trees, index_t tree);
  ShallowSplits splits() const { return {splits_.view(), threshold_.data(), depth_}; }

  index_t depth_ = 0;
  std::vector<index_t> nodes_;  // those below the last level, from left to right
  Models splits_;
  std::vector<double> threshold_;
  std::vector<Leaves> leaves_;  // (n_outputs,)
};

}  // namespace fctree::ensembles
