#include "ensembles/tree_sum.hpp"

namespace fctree::ensembles {

namespace {

// Rows of numbers of some features as rows of all: 0 of the others.
std::vector<double> widened(const std::vector<double>& rows, const std::vector<index_t>& places, index_t n_features) {
  const index_t width = static_cast<index_t>(places.size()), n_rows = static_cast<index_t>(rows.size()) / width;
  std::vector<double> all(n_rows * n_features, 0.0);
  for (index_t row = 0; row < n_rows; ++row)
    for (index_t j = 0; j < width; ++j) all[row * n_features + places[j]] = rows[row * width + j];
  return all;
}

// Adds the same few numbers to each so many of `sums`.
void add_repeated(const std::vector<double>& few, std::vector<double>& sums) {
  for (std::size_t at = 0; at < sums.size(); ++at) sums[at] += few[at % few.size()];
}

}  // namespace

ObliqueTreeArrays sum_of(const ObliqueTreeArrays& model, ObliqueTreeArrays tree, const std::vector<index_t>& places) {
  for (std::vector<double>* rows : {&tree.coef, &tree.leaf_coef, &tree.feature_gain})
    *rows = widened(*rows, places, model.n_features);
  const index_t d = tree.n_features = model.n_features;
  for (index_t node = 0; node < tree.n_nodes(); ++node)  // a leaf's model of a single output is there too
    if (tree.leaf_index[node] >= 0)
      for (index_t j = 0; j < d; ++j) tree.coef[node * d + j] += model.coef[j];
  tree.feature_scale = model.feature_scale;
  add_repeated(model.leaf_coef, tree.leaf_coef);
  add_repeated(model.leaf_intercept, tree.leaf_intercept);
  add_repeated(model.feature_gain, tree.feature_gain);
  return tree;
}

}  // namespace fctree::ensembles
