#include "oblique/standardized.hpp"

#include <algorithm>
#include <memory>

#include "oblique/grow.hpp"
#include "oblique/local_statistics.hpp"

namespace fctree::oblique {

namespace {

// Transforms a linear function of mapped features to the original ones; returns its value at their
// origin, relative to the mapped one.
double fold_linear(const FeatureMap& map, double* coef) {
  double offset = 0.0;
  for (index_t j = 0; j < map.width(); ++j) {
    coef[j] /= map.scale[j];
    offset -= coef[j] * map.mean[j];
  }
  return offset;
}

void fold_axis(const FeatureMap& map, double* coef, double& threshold) {
  const index_t axis =
      std::find_if(coef, coef + map.width(), [](double c) { return c != 0.0; }) - coef;
  threshold = map.mean[axis] + map.scale[axis] * threshold;
}

}  // namespace

void fold_back(const FeatureMap& map, ObliqueTreeArrays& tree) {
  const index_t d = tree.n_features;
  tree.feature_scale.assign(map.scale.begin(), map.scale.end());
  for (index_t node = 0; node < tree.n_nodes(); ++node) {
    double* coef = tree.coef.data() + node * d;
    if (tree.split_kind[node] == static_cast<index_t>(SplitKind::axis)) {
      fold_axis(map, coef, tree.threshold[node]);
      continue;
    }
    const double offset = fold_linear(map, coef);
    tree.threshold[node] -= offset;
    if (tree.split_kind[node] != static_cast<index_t>(SplitKind::curvature))
      tree.intercept[node] += offset;
  }
  const index_t n_models = static_cast<index_t>(tree.leaf_coef.size()) / d;
  for (index_t model = 0; model < n_models; ++model)
    tree.leaf_intercept[model] += fold_linear(map, tree.leaf_coef.data() + model * d);
}

ObliqueTreeArrays grow_standardized_tree(const TrainingData& data, const ObliqueParams& params,
                                         const Execution& execution, const LeftOut& left_out) {
  const FeatureMap map =
      find_feature_map(data.x, data.weight, data.n_samples, data.n_features, true);
  ObliqueTreeArrays tree;
  with_team(execution, [&](const Execution& team) {
    const std::unique_ptr<double[]> features(new double[data.n_samples * data.n_features]);
    map_features(map, data.x, data.n_samples, data.n_features, features.get(), team);
    TrainingData mapped = data;
    mapped.x = features.get();
    LocalStatistics rows;
    rows.set_offset(offset_of(map));
    tree = grow_tree_on_team(mapped, params, rows, team, left_out);
  });
  fold_back(map, tree);
  return tree;
}

}  // namespace fctree::oblique
