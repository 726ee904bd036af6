#include "distributed/oblique_arrays.hpp"

#include <algorithm>

#include "oblique/predict.hpp"
#include "ridge/spd.hpp"

namespace fctree::distributed {

std::vector<ChildJudgement> judgements_of(const JudgementArrays& arrays, index_t n,
                                          const TrainingData& sizes) {
  const index_t d = sizes.n_features, n_outputs = sizes.n_outputs;
  const auto model = [&](index_t i) {
    LeverageModel found;
    found.coef = Eigen::Map<const Matrix>(arrays.coef + i * d * n_outputs, d, n_outputs);
    found.intercept = VectorView(arrays.intercept + i * n_outputs, n_outputs);
    found.mean = VectorView(arrays.mean + i * d, d);
    const index_t stride = spd_stride(d);
    found.inverse = RowMatrixView(arrays.inverse + i * d * stride, d, stride);
    found.base = arrays.base[i];
    return found;
  };
  std::vector<ChildJudgement> judgements;
  for (index_t i = 0; i < n; ++i)
    judgements.push_back({model(2 * i), model(2 * i + 1), arrays.unit[i]});
  return judgements;
}

SpectralFit spectral_fit_of(const SpectralArrays& arrays, const TrainingData& sizes) {
  const index_t d = sizes.n_features, n_outputs = sizes.n_outputs;
  return {RowMatrixView(arrays.vectors, d, arrays.rank), VectorView(arrays.values, arrays.rank),
          RowMatrixView(arrays.cross, arrays.rank, n_outputs),
          VectorView(arrays.mean, d + n_outputs), arrays.base};
}

std::vector<FeatureRange> ranges_of(const double* values, index_t n) {
  std::vector<FeatureRange> ranges;
  for (index_t i = 0; i < n; ++i, values += 4)
    ranges.push_back({values[0], values[1], values[2], values[3]});
  return ranges;
}

FeatureMap feature_map_of(const MapArrays& arrays) {
  return {std::vector<index_t>(arrays.columns, arrays.columns + arrays.width),
          VectorView(arrays.mean, arrays.n_features),
          VectorView(arrays.scale, arrays.n_features)};
}

std::vector<double> mean_and_scale(const double* sums, const double* largest, const double* first,
                                   index_t n_features) {
  const FeatureSums total = {VectorView(sums, 1 + 2 * n_features),
                             VectorView(largest, n_features)};
  const FeatureMap map = map_of_sums(total, VectorView(first, n_features));
  std::vector<double> found(map.mean.begin(), map.mean.end());
  found.insert(found.end(), map.scale.begin(), map.scale.end());
  return found;
}

std::vector<double> shard_leaf_ranges(const TreeArrays& arrays, const double* x,
                                      const double* weight, index_t n_samples,
                                      const Execution& execution) {
  std::vector<index_t> leaf(n_samples);
  apply_tree({arrays.children_left, arrays.children_right, arrays.threshold, arrays.coef,
              arrays.n_features},
             x, n_samples, leaf.data(), execution);
  ObliqueTreeArrays tree;
  tree.n_features = arrays.n_features;
  tree.n_outputs = arrays.n_outputs;
  const index_t n_scores = arrays.n_leaves * arrays.n_outputs;
  tree.leaf_index.assign(arrays.leaf_index, arrays.leaf_index + arrays.n_nodes);
  tree.leaf_intercept.assign(arrays.leaf_intercept, arrays.leaf_intercept + n_scores);
  if (arrays.leaf_coef != nullptr)
    tree.leaf_coef.assign(arrays.leaf_coef, arrays.leaf_coef + n_scores * arrays.n_features);
  LeafBounds ranges = no_scores(tree);
  widen_ranges(tree, x, weight, leaf, ranges);
  std::vector<double> largest;
  for (const double lower : ranges.lower) largest.push_back(-lower);
  largest.insert(largest.end(), ranges.upper.begin(), ranges.upper.end());
  return largest;
}

ObliqueTreesArrays finish_tree(const ObliqueTreeArrays& tree, const double* ranges,
                               const BoundRules& rules, const MapArrays& map, double factor) {
  const index_t n_scores = tree.n_leaves() * tree.n_outputs;
  LeafBounds bounds;
  for (index_t at = 0; at < n_scores; ++at) bounds.lower.push_back(-ranges[at]);
  bounds.upper.assign(ranges + n_scores, ranges + 2 * n_scores);
  ObliqueTreesArrays one;
  one.n_features = map.n_features;
  one.n_outputs = tree.n_outputs;
  append_tree(tree, bounds_of(std::move(bounds), rules), feature_map_of(map), factor, one);
  return one;
}

}  // namespace fctree::distributed
