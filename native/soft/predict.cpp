#include "soft/predict.hpp"

#include <algorithm>
#include <vector>

namespace fctree::soft {

namespace {

// Calls use(block, first_row) with standardised samples, for blocks in parallel.
template <class T, class Use>
void for_each_block(const Table& x, index_t n_rows, const Standardization& rule, bool transpose,
                    const Execution& execution, const Use& use) {
  const index_t width = x.n_columns + (rule.intercept ? 1 : 0);
  for_each_part(execution, n_rows, kBlockRows, [&](index_t, index_t first, index_t end) {
    const index_t n = end - first;
    std::vector<double> buffer(x.is_view() ? 0 : n * x.n_columns);
    std::vector<T> rows(n * width);
    standardize(x.read(first, n, buffer.data()), n, x.n_columns, rule, rows.data());
    SampleBlock<T> block;
    block.pack(rows.data(), n, width);
    if (transpose) block.transpose();
    use(block, first);
  });
}

}  // namespace

template <class T>
void predict_soft(const Ensemble<T>& trees, const Table& x, index_t n_rows, const Standardization& rule, T* out,
                  const Execution& execution) {
  const bool dense = dense_is_cheaper(trees, -1.0);
  for_each_block<T>(x, n_rows, rule, dense, execution, [&](const SampleBlock<T>& block, index_t first) {
    T* rows = out + first * trees.n_outputs;
    std::fill(rows, rows + block.n_rows() * trees.n_outputs, T(0));
    TreePass<T> pass;
    pass.is_dense = dense;
    for (index_t tree = 0; tree < trees.n_trees; ++tree) {
      pass.forward(trees, tree, block, false);
      for (std::size_t i = 0; i < pass.out.size(); ++i) rows[i] += pass.out[i];
    }
  });
}

template <class T>
void count_reachable_leaves(const Ensemble<T>& trees, const Table& x, index_t n_rows,
                            const Standardization& rule, std::int32_t* counts,
                            const Execution& execution) {
  if (trees.routing != Routing::smooth_step) {
    std::fill(counts, counts + n_rows * trees.n_trees,
              static_cast<std::int32_t>(trees.n_leaves()));
    return;
  }
  for_each_block<T>(x, n_rows, rule, false, execution, [&](const SampleBlock<T>& block, index_t first) {
    TreeWalk<T> walk;
    std::vector<T> unused(block.n_rows() * trees.n_outputs);
    std::vector<std::int32_t> of_tree(block.n_rows());
    for (index_t tree = 0; tree < trees.n_trees; ++tree) {
      walk.forward(trees, tree, block, false, unused.data());
      std::fill(of_tree.begin(), of_tree.end(), 0);
      walk.count_leaves(of_tree.data());
      for (index_t i = 0; i < block.n_rows(); ++i)
        counts[(first + i) * trees.n_trees + tree] = of_tree[i];
    }
  });
}

template void predict_soft(const Ensemble<float>&, const Table&, index_t, const Standardization&,
                           float*, const Execution&);
template void predict_soft(const Ensemble<double>&, const Table&, index_t, const Standardization&,
                           double*, const Execution&);
template void count_reachable_leaves(const Ensemble<float>&, const Table&, index_t,
                                     const Standardization&, std::int32_t*, const Execution&);
template void count_reachable_leaves(const Ensemble<double>&, const Table&, index_t,
                                     const Standardization&, std::int32_t*, const Execution&);

}  // namespace fctree::soft
