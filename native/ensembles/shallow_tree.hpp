// The first three levels of a tree, and its leaves if there are no others, packed for
// shallow_kernels.hpp: a third of the time of one product after the other, to the same bytes.
#pragma once

#include <array>
#include <vector>

#include "ensembles/ensemble.hpp"
#include "ensembles/shallow_kernels.hpp"

namespace fctree::ensembles {

class ShallowTree {
 public:
  // O(8 K d).
  ShallowTree(const ObliqueTreesView& trees, index_t tree);
  ShallowTree() = default;

  bool exists() const { return n_nodes_ > 0; }
  bool is_whole() const { return !leaves_.empty(); }
  // node (kShallowRows,): where the first n rows of x (n_features, kShallowRows) leave the three levels.
  void route(const double* x, index_t n, std::int64_t* node) const;
  // Adds the scores of a whole tree to sums (n_outputs, kShallowRows) of the first n rows.
  void add_scores(const double* x, index_t n, double* sums) const;

 private:
  template <class T>
  using Eight = std::array<T, kShallowModels>;
  using Coefs = Eight<const double*>;  // null for a model of zeros
  struct Models {
    std::array<std::int32_t, 2 * kShallowModels + 1> begin;  // of eight lanes at most
    std::vector<std::int32_t> features;
    std::vector<double> coef;
    SideBySide view() const { return {begin.data(), features.data(), coef.data()}; }
  };
  struct Leaves {
    Models models;
    Eight<double> intercept{}, lower{}, upper{};
  };

  static Models side_by_side(const Coefs& coef, index_t n_features);
  void add_leaves(const ObliqueTreesView& trees, index_t tree);
  ShallowSplits splits() const { return {splits_.view(), threshold_.data(), depth_}; }

  index_t depth_ = 0;
  index_t n_nodes_ = 0;
  Eight<index_t> nodes_{};  // those below the last level, from left to right
  Models splits_;
  Eight<double> threshold_{};
  std::vector<Leaves> leaves_;  // (n_outputs,)
};

}  // namespace fctree::ensembles
