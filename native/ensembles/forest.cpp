#include "ensembles/forest.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "ensembles/leaf_values.hpp"
#include "ensembles/predict.hpp"
#include "ensembles/row_sample.hpp"
#include "oblique/predict.hpp"
#include "oblique/standardized.hpp"

namespace fctree::ensembles {

namespace {

constexpr index_t kTreesAtOnce = 64;  // grown before they are stored

// Targets output by output, as needed by the sampler.
RowSampler sampler_of(const ObliqueForestTask& task, std::uint64_t seed,
                      const Execution& execution) {
  const TrainingData& data = task.data;
  std::vector<double> y(data.n_samples * data.n_outputs);
  for (index_t i = 0; i < data.n_samples; ++i)
    for (index_t k = 0; k < data.n_outputs; ++k)
      y[k * data.n_samples + i] = data.y[i * data.n_outputs + k];
  const BoostedSizes sizes = {data.n_features, data.n_outputs, data.n_outputs};
  return {data.x, y.data(), data.n_samples, sizes, seed, execution};
}

// How often each sample counts in a tree; empty for once each.
std::vector<std::uint8_t> counts_of(const RowSampler& rows, index_t tree,
                                    const ObliqueForestParams& params) {
  std::vector<std::uint8_t> counts;
  if (params.bootstrap)
    rows.draw_counts(tree, params.max_samples, counts);
  else if (params.max_samples < 1.0)
    rows.draw_part(tree, params.max_samples, nullptr, Execution(), counts);
  return counts;
}

// Trees grow in parallel, unless one takes so long that an interrupt would have to wait: then one
// after the other, each on all threads. The trees are the same.
bool is_slow(const TrainingData& data, const ObliqueParams& params) {
  constexpr double kMost = 1e9;  // multiply-adds, about half a second
  const double width = static_cast<double>(data.n_features + data.n_outputs);
  const double levels = static_cast<double>(std::min<index_t>(params.max_depth, 16));
  const double candidates = params.ridge_criterion ? 8.0 : 2.0;
  return levels * candidates * width * width * static_cast<double>(data.n_samples) > kMost;
}

struct GrownTree {
  ObliqueTreeArrays tree;
  FeatureMap map;
  LeafBounds bounds;
};

GrownTree grow_one(const TrainingData& mapped, const FeatureMap& map,
                   const std::vector<std::uint8_t>& counts, const ObliqueParams& tree_params,
                   double extrapolation, const Execution& execution) {
  const index_t n = mapped.n_samples;
  std::vector<double> samples(n, 1.0);  // a row drawn twice is still one sample
  if (mapped.weight != nullptr) samples.assign(mapped.weight, mapped.weight + n);
  std::vector<double> weight = samples;
  if (!counts.empty())
    std::transform(counts.begin(), counts.end(), weight.begin(), weight.begin(), std::multiplies<>());
  TrainingData data = mapped;
  data.weight = weight.data();
  data.count = samples.data();
  MappedTree grown = grow_mapped_tree(data, map, tree_params, execution);
  const ObliqueTreeArrays& tree = grown.tree;
  const double* x = grown.x(data);
  std::vector<index_t> leaf(n);
  apply_tree({tree.children_left.data(), tree.children_right.data(), tree.threshold.data(),
              tree.coef.data(), tree.n_features},
             x, n, leaf.data(), execution);
  const BoundRules rules = {extrapolation, std::numeric_limits<double>::infinity()};
  LeafBounds bounds = bound_leaves(tree, x, weight.data(), leaf, rules, execution);
  return {std::move(grown.tree), std::move(grown.map), std::move(bounds)};
}

void grow_trees(const ObliqueForestTask& task, const ObliqueParams& tree_params,
                const ObliqueForestParams& params, const Execution& team,
                ObliqueTreesArrays& trees) {
  const TrainingData& data = task.data;
  const FeatureMap map = find_feature_map(data.x, data.weight, data.n_samples, data.n_features,
                                          tree_params.standardize);
  std::vector<double> features(data.n_samples * data.n_features);
  map_features(map, data.x, data.n_samples, data.n_features, features.data(), team);
  TrainingData mapped = data;
  mapped.x = features.data();
  const RowSampler rows = sampler_of(task, params.seed, team);
  for (index_t done = 0; done < params.n_estimators; done += kTreesAtOnce) {
    const index_t size = std::min(kTreesAtOnce, params.n_estimators - done);
    std::vector<GrownTree> grown(size);
    const bool slow = is_slow(data, tree_params);
    const Execution inside = slow ? team : Execution{1, team.interrupted, nullptr};
    parallel_for(slow ? Execution{1, team.interrupted, nullptr} : team, size, [&](index_t at) {
      ObliqueParams own = tree_params;
      own.node_features.seed = params.seed;
      own.node_features.tree = task.first_tree + done + at;
      grown[at] = grow_one(mapped, map, counts_of(rows, own.node_features.tree, params), own,
                           params.extrapolation, inside);
    });
    for (const GrownTree& one : grown) append_tree(one.tree, one.bounds, one.map, 1.0, trees);
  }
}

}  // namespace

ObliqueTreesArrays grow_forest(const ObliqueForestTask& task, const ObliqueParams& tree_params,
                               const ObliqueForestParams& params, const Execution& execution) {
  ObliqueTreesArrays trees;
  trees.n_features = task.data.n_features;
  trees.n_outputs = task.data.n_outputs;
  with_team(execution, [&](const Execution& team) {
    grow_trees(task, tree_params, params, team, trees);
  });
  return trees;
}

void sum_out_of_bag(const ObliqueForestTask& task, const ObliqueTreesView& trees, index_t n_trees,
                    const ObliqueForestParams& params, const OutOfBagSums& out,
                    const Execution& execution) {
  const TrainingData& data = task.data;
  const index_t d = data.n_features, n_outputs = data.n_outputs;
  const RowSampler rows = sampler_of(task, params.seed, execution);
  std::fill_n(out.scores, data.n_samples * n_outputs, 0.0);
  std::fill_n(out.counts, data.n_samples, 0);
  std::vector<double> x(data.n_samples * d), sums(data.n_samples * n_outputs);
  std::vector<index_t> left_out;
  with_team(execution, [&](const Execution& team) {
    for (index_t tree = 0; tree < n_trees; ++tree) {
      const std::vector<std::uint8_t> drawn = counts_of(rows, tree, params);
      left_out.clear();
      for (index_t i = 0; i < static_cast<index_t>(drawn.size()); ++i)
        if (drawn[i] == 0) left_out.push_back(i);
      const index_t size = static_cast<index_t>(left_out.size());
      for (index_t at = 0; at < size; ++at)
        std::copy_n(data.x + left_out[at] * d, d, x.data() + at * d);
      std::fill_n(sums.begin(), size * n_outputs, 0.0);
      add_trees(trees, {tree, tree + 1}, x.data(), size, {sums.data(), n_outputs, 1}, team);
      for (index_t at = 0; at < size; ++at) {
        ++out.counts[left_out[at]];
        for (index_t k = 0; k < n_outputs; ++k)
          out.scores[left_out[at] * n_outputs + k] += sums[at * n_outputs + k];
      }
    }
  });
}

}  // namespace fctree::ensembles
