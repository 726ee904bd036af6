#include "oblique/predict.hpp"

#include <algorithm>
#include <array>

#include "oblique/axis_walk.hpp"
#include "ridge/row_blocks.hpp"

namespace fctree::oblique {

namespace {

// Few enough rows to stay in the L1 cache while they go down the tree.
constexpr index_t kBlockRows = 64;
constexpr index_t kBlocksPerTask = 32;

template <class Body>
void for_each_block(index_t n_rows, index_t n_features, const Execution& execution,
                    const Body& body) {
  constexpr index_t kTaskRows = kBlockRows * kBlocksPerTask;
  const double work = 4.0 * static_cast<double>(n_rows * n_features);  // four levels: trees are shallow
  for_each_part(limit_threads(execution, work), n_rows, kTaskRows, [&](index_t, index_t begin, index_t end) {
    for (; begin < end; begin += kBlockRows) body(begin, std::min(kBlockRows, end - begin));
  });
}

}  // namespace

void apply_tree(const RoutingArrays& tree, const double* x, index_t n_rows, index_t* leaf,
                const Execution& execution) {
  apply_tree(tree, TrainingData{x, nullptr, nullptr, n_rows, tree.n_features, 0}, leaf, execution);
}

void apply_tree(const RoutingArrays& tree, const TrainingData& data, index_t* leaf,
                const Execution& execution) {
  const index_t n_rows = data.n_samples;
  const AxisWalk walk = n_rows < AxisWalk::kFewRows ? AxisWalk() : AxisWalk(tree);
  for_each_block(n_rows, tree.n_features, execution, [&](index_t begin, index_t size) {
    std::fill_n(leaf + begin, size, 0);
    std::vector<double> buffer;
    const double* rows = read_block(data, begin, size, buffer);
    if (walk.exists())
      walk.route(rows, size, leaf + begin);
    else
      dense_kernels().route(tree, {rows, size, tree.n_features, nullptr}, leaf + begin);
  });
}

void predict_tree(const RoutingArrays& tree, const LeafModels& leaves, const double* x,
                  index_t n_rows, double* out, const Execution& execution) {
  const index_t n_outputs = leaves.n_outputs;
  for_each_block(n_rows, tree.n_features, execution, [&](index_t begin, index_t size) {
    std::array<std::int64_t, kBlockRows> slot = {};
    const double* rows = x + begin * tree.n_features;
    const Descents descents = {rows, size, tree.n_features, nullptr};
    dense_kernels().route(tree, descents, slot.data());
    for (index_t i = 0; i < size; ++i) slot[i] = leaves.leaf_index[slot[i]];
    double* block_out = out + begin * n_outputs;
    if (leaves.coef != nullptr) {
      dense_kernels().evaluate_leaves(
          {leaves.coef, leaves.intercept, tree.n_features, n_outputs}, slot.data(), descents,
          block_out);
      return;
    }
    for (index_t i = 0; i < size; ++i)
      std::copy_n(leaves.intercept + slot[i] * n_outputs, n_outputs, block_out + i * n_outputs);
  });
}

}  // namespace fctree::oblique
