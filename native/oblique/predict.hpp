// Prediction with the arrays of an oblique tree: which leaf a sample reaches, and the
// value of that leaf's model.
#pragma once

#include "core/parallel.hpp"
#include "oblique/tree.hpp"
#include "ridge/dense.hpp"
#include "ridge/training_data.hpp"

namespace fctree::oblique {

using namespace ridge;

// Leaf models, one per leaf: (n_leaves, n_outputs, n_features) or null for constant leaves,
// and (n_leaves, n_outputs).
struct LeafModels {
  const std::int64_t* leaf_index;  // (n_nodes,)
  const double* coef;
  const double* intercept;
  std::int64_t n_outputs;
};

inline RoutingArrays routing_of(const ObliqueTreeArrays& tree) {
  return {tree.children_left.data(), tree.children_right.data(), tree.threshold.data(), tree.coef.data(), tree.n_features};
}

// leaf (n_rows,): ids of the leaves. O(depth d) per row.
void apply_tree(const RoutingArrays& tree, const double* x, index_t n_rows, index_t* leaf,
                const Execution& execution);
// The same of training samples, whose features need not be in memory.
void apply_tree(const RoutingArrays& tree, const TrainingData& data, index_t* leaf,
                const Execution& execution);

// out (n_rows, n_outputs).
void predict_tree(const RoutingArrays& tree, const LeafModels& leaves, const double* x,
                  index_t n_rows, double* out, const Execution& execution);

}  // namespace fctree::oblique
