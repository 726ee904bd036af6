#include "oblique/standardized.hpp"

#include <algorithm>
#include <memory>

#include "oblique/grow.hpp"
#include "oblique/relevant_features.hpp"

namespace fctree::oblique {

namespace {

// The same share of the features that are kept, rounded up.
index_t features_of_a_node(index_t max_features, index_t n_features, index_t n_kept) {
  if (max_features >= n_features) return n_kept;
  return (max_features * n_kept + n_features - 1) / n_features;
}

bool is_axis(const ObliqueTreeArrays& tree, index_t node) {
  return tree.split_kind[node] == static_cast<index_t>(SplitKind::axis);
}

// The deviations of all features at the root; 1 of those that the tree has not got.
std::vector<double> scales_of(const MappedTree& mapped, bool standardize) {
  std::vector<double> scale(mapped.map.scale.begin(), mapped.map.scale.end());
  if (!standardize)
    for (index_t j = 0; j < mapped.map.width(); ++j) scale[mapped.map.columns[j]] = mapped.tree.feature_scale[j];
  return scale;
}

// The tree as functions of the original features.
ObliqueTreeArrays unmapped(MappedTree mapped, bool standardize) {
  const FeatureMap& map = mapped.map;
  ObliqueTreeArrays& tree = mapped.tree;
  const index_t width = map.width(), d = map.mean.size();
  std::vector<double> coef, threshold, leaf_coef, gain(d, 0.0);
  const std::vector<double> split_offset = append_splits(tree, map, coef, threshold);
  const std::vector<double> leaf_offset = append_linear(tree.leaf_coef, map, 1.0, leaf_coef);
  for (index_t node = 0; node < tree.n_nodes(); ++node)
    if (tree.split_kind[node] != static_cast<index_t>(SplitKind::curvature) && !is_axis(tree, node))
      tree.intercept[node] += split_offset[node];
  for (std::size_t model = 0; model < leaf_offset.size(); ++model)
    tree.leaf_intercept[model] += leaf_offset[model];
  for (index_t j = 0; j < width; ++j) gain[map.columns[j]] = tree.feature_gain[j];
  tree.feature_scale = scales_of(mapped, standardize);
  tree.n_features = d;
  tree.coef = std::move(coef);
  tree.threshold = std::move(threshold);
  tree.leaf_coef = std::move(leaf_coef);
  tree.feature_gain = std::move(gain);
  return std::move(tree);
}

}  // namespace

std::vector<double> append_splits(const ObliqueTreeArrays& tree, const FeatureMap& map,
                                  std::vector<double>& coef, std::vector<double>& threshold) {
  const index_t width = map.width(), d = map.mean.size();
  const std::size_t first = coef.size();
  const std::vector<double> offset = append_linear(tree.coef, map, 1.0, coef);
  for (index_t node = 0; node < tree.n_nodes(); ++node) {
    if (!is_axis(tree, node)) {
      threshold.push_back(tree.threshold[node] - offset[node]);
      continue;
    }
    const double* own = tree.coef.data() + node * width;
    const index_t column =
        map.columns[std::find_if(own, own + width, [](double c) { return c != 0.0; }) - own];
    threshold.push_back(map.mean[column] + map.scale[column] * tree.threshold[node]);
    coef[first + node * d + column] = 1.0;
  }
  return offset;
}

std::vector<double> take_columns(const TrainingData& data, const std::vector<index_t>& columns, const Execution& execution) {
  FeatureMap kept = identity_map(data.n_features);
  kept.columns = columns;
  std::vector<double> x(data.n_samples * kept.width());
  map_features(kept, table_of(data.x, data.n_features), data.n_samples, x.data(), execution);
  return x;
}

MappedTree grow_mapped_tree(const TrainingData& mapped, const FeatureMap& map,
                            const ObliqueParams& params, const Execution& team,
                            const LeftOut& left_out, const FeatureIndex* index) {
  MappedTree grown = {{}, map, {}};
  TrainingData data = mapped;
  ObliqueParams own = params;
  LocalStatistics rows(index);
  rows.set_offset(offset_of(map));
  rows.set_columns(map.columns);
  const std::vector<index_t> places = relevant_local_features(mapped, params, rows, team);
  if (!places.empty()) {
    const index_t d = mapped.n_features;
    data.n_features = static_cast<index_t>(places.size());
    own.node_features.max_features =
        features_of_a_node(params.node_features.max_features, d, data.n_features);
    for (index_t j = 0; j < data.n_features; ++j) grown.map.columns[j] = map.columns[places[j]];
    grown.map.columns.resize(data.n_features);
    grown.few = take_columns(mapped, places, team);
    data.x = grown.few.data();
    rows.set_offset(offset_of(grown.map));
    rows.set_columns(grown.map.columns);
  }
  data.columns = grown.map.columns.data();
  grown.tree = grow_tree(data, own, rows, team, left_out);
  return grown;
}

ObliqueTreeArrays grow_single_tree(const TrainingData& data, const ObliqueParams& params,
                                   const Execution& execution, const LeftOut& left_out) {
  const Table x = table_of(data.x, data.n_features);
  const std::vector<index_t> varying = varying_columns(x, data.weight, data.n_samples, execution);
  const FeatureMap map = find_feature_map({x, data.weight, data.n_samples}, varying,
                                          {params.fit_intercept, params.standardize}, execution);
  MappedTree grown;
  if (!params.standardize && map.width() == data.n_features) {  // features as they came
    LocalStatistics rows;
    with_team(execution, [&](const Execution& team) { grown.tree = grow_tree(data, params, rows, team, left_out); });
    return std::move(grown.tree);
  }
  with_team(execution, [&](const Execution& team) {
    const std::unique_ptr<double[]> features(new double[data.n_samples * map.width()]);
    map_features(map, x, data.n_samples, features.get(), team);
    TrainingData mapped = data;
    mapped.x = features.get();
    mapped.n_features = map.width();
    grown = grow_mapped_tree(mapped, map, params, team, left_out);
  });
  return unmapped(std::move(grown), params.standardize);
}

}  // namespace fctree::oblique
