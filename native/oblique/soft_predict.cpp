#include "oblique/soft_predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace fctree::oblique {

namespace {

constexpr index_t kBlockRows = 64;

// The values of one block of rows at every node, from the leaves up.
class BlockValues {
 public:
  BlockValues(const SoftTree& tree, const LeafModels& leaves)
      : tree_(tree), leaves_(leaves), values_(tree.n_nodes * kBlockRows * leaves.n_outputs) {}

  const double* find(const double* x, index_t size) {
    for (index_t node = tree_.n_nodes - 1; node >= 0; --node) {
      if (tree_.arrays.children_left[node] < 0)
        answer(node, x, size);
      else
        mix(node, x, size);
    }
    return at(0);
  }

 private:
  double* at(index_t node) { return values_.data() + node * kBlockRows * leaves_.n_outputs; }

  void evaluate(const LinearModelArrays& models, index_t row, const double* x, index_t size,
                double* out) {
    slot_.fill(row);
    dense_kernels().evaluate_leaves(models, slot_.data(),
                                    {x, size, tree_.arrays.n_features, nullptr}, out);
  }

  void answer(index_t node, const double* x, index_t size) {
    const index_t slot = leaves_.leaf_index[node], n_outputs = leaves_.n_outputs;
    if (leaves_.coef != nullptr) {
      evaluate({leaves_.coef, leaves_.intercept, tree_.arrays.n_features, n_outputs}, slot, x,
               size, at(node));
      return;
    }
    for (index_t i = 0; i < size; ++i)
      std::copy_n(leaves_.intercept + slot * n_outputs, n_outputs, at(node) + i * n_outputs);
  }

  void mix(index_t node, const double* x, index_t size) {
    const RoutingArrays& arrays = tree_.arrays;
    evaluate({arrays.coef + node * arrays.n_features, &kNoIntercept, arrays.n_features, 1}, 0, x,
             size, projection_.data());
    const double *left = at(arrays.children_left[node]), *right = at(arrays.children_right[node]);
    double* out = at(node);
    for (index_t i = 0; i < size; ++i) {
      const double away = (projection_[i] - arrays.threshold[node]) / tree_.width[node];
      const double share = 1.0 / (1.0 + std::exp(away));
      for (index_t k = 0; k < leaves_.n_outputs; ++k) {
        const index_t at = i * leaves_.n_outputs + k;
        out[at] = share * left[at] + (1.0 - share) * right[at];
      }
    }
  }

  static constexpr double kNoIntercept = 0.0;

  const SoftTree& tree_;
  const LeafModels& leaves_;
  std::vector<double> values_;  // (n_nodes, kBlockRows, n_outputs)
  std::array<std::int64_t, kBlockRows> slot_;
  std::array<double, kBlockRows> projection_;
};

}  // namespace

void predict_soft_tree(const SoftTree& tree, const LeafModels& leaves, const double* x,
                       index_t n_rows, double* out, const Execution& execution) {
  const index_t n_features = tree.arrays.n_features, n_outputs = leaves.n_outputs;
  const double work = static_cast<double>(n_rows) * static_cast<double>(n_features) *
                      static_cast<double>(tree.n_nodes);
  constexpr index_t kTaskRows = 16 * kBlockRows;
  for_each_part(limit_threads(execution, work), n_rows, kTaskRows, [&](index_t, index_t begin, index_t end) {
    BlockValues values(tree, leaves);
    for (; begin < end; begin += kBlockRows) {
      const index_t size = std::min(kBlockRows, end - begin);
      std::copy_n(values.find(x + begin * n_features, size), size * n_outputs,
                  out + begin * n_outputs);
    }
  });
}

}  // namespace fctree::oblique
