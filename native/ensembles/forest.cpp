#include "ensembles/forest.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "core/buffer.hpp"
#include "ensembles/leaf_values.hpp"
#include "ensembles/packed_rows.hpp"
#include "ensembles/predict.hpp"
#include "ensembles/row_sample.hpp"
#include "ensembles/sampled_search.hpp"
#include "ensembles/tree_sum.hpp"
#include "oblique/predict.hpp"
#include "oblique/refit.hpp"
#include "oblique/relevant_features.hpp"
#include "oblique/standardized.hpp"

namespace fctree::ensembles {

namespace {

constexpr index_t kTreesAtOnce = 256;  // grown before they are stored, at most
constexpr index_t kWidthAtOnce = 64'000;  // of these trees together, where threads are fewer
constexpr index_t kCountsKnown = index_t{1} << 24;  // of trees' samples at a time
constexpr index_t kRowsJudged = 512;
constexpr index_t kNoTree = -1;
constexpr index_t kSearchDraws = index_t{1} << 31;  // the first number of those beside the trees' draws
constexpr double kSearchedPart = 0.63;  // of what boosting searches, as many trees tell more than one
constexpr index_t kFewOfLeaves = 8;  // times as many samples as a leaf has at least

// Targets output by output, as needed by the sampler.
RowSampler sampler_of(const TrainingData& data, const std::vector<index_t>& varying,
                      const ObliqueForestParams& params, const Execution& execution) {
  std::vector<double> y(data.n_samples * data.n_outputs);
  for (index_t i = 0; i < data.n_samples; ++i)
    for (index_t k = 0; k < data.n_outputs; ++k)
      y[k * data.n_samples + i] = data.y[i * data.n_outputs + k];
  const double* unit = params.target_unit > 0.0 ? &params.target_unit : nullptr;
  const BoostedSamples samples = {table_of(data.x, data.n_features), y.data(), nullptr, nullptr,
                                  data.n_samples};
  return {samples, {varying, data.n_outputs, unit, params.rounds_features, params.seed}, execution};
}

// How often each sample counts in a tree; empty for once each.
std::vector<std::uint8_t> counts_of(const RowSampler& rows, index_t tree,
                                    const ObliqueForestParams& params) {
  std::vector<std::uint8_t> counts;
  if (params.bootstrap)
    rows.draw_counts(tree, params.max_samples, counts);
  else if (params.max_samples < 1.0)
    rows.draw_part(tree, params.max_samples, Execution(), counts);
  return counts;
}

// Whether a tree's samples are enough for a split. Where they are few, copies don't count: a split judged without one of them
// knows the others.
bool may_split(const TrainingData& data, const RowSampler& rows, const std::vector<std::uint8_t>& counts, index_t min_samples_leaf) {
  std::vector<index_t> drawn;
  const auto n_many = static_cast<std::size_t>(kFewOfLeaves * min_samples_leaf);
  for (index_t i = 0; i < data.n_samples && drawn.size() < n_many; ++i)
    if (data.weight_of(i) > 0.0 && (counts.empty() || counts[i] > 0)) drawn.push_back(i);
  return drawn.size() == n_many || rows.count_different(drawn) >= 2 * min_samples_leaf;
}

// Trees grow in parallel where there are enough and what all threads need for theirs, about the table again and
// a matrix of products each, fits into memory. Else one after the other, each on all threads: the same trees.
bool grows_many(const TrainingData& data, index_t n_trees, bool sorts, index_t n_threads) {
  constexpr double kBytes = 100e6, kBytesOfThread = 8e6;
  const double width = static_cast<double>(data.n_features + data.n_outputs);
  const double table = 8.0 * width * static_cast<double>(data.n_samples);
  const double one = (sorts ? 2.5 : 1.0) * table + 8.0 * width * static_cast<double>(data.n_features);
  return 2 * n_trees >= n_threads && n_threads * (one - kBytesOfThread) <= kBytes + 2.0 * table;
}

// The input that all trees share.
struct MappedSamples {
  const ObliqueForestParams& params;
  const RowSampler& rows;
  TrainingData data;
  FeatureMap map;
  FeatureIndex index;
  double n_searched;  // of a tree's samples, infinity for all
};

struct GrownTree {
  ObliqueTreeArrays tree;
  FeatureMap map;
  LeafBounds bounds;
};

// Leaves are bounded by the rows of positive weight: where these are few, by copies of them.
LeafBounds bounds_of(const ObliqueTreeArrays& tree, const double* x, const std::vector<double>& weight,
                     double extrapolation, const Execution& execution) {
  constexpr index_t kFew = 4;  // times as many rows
  index_t n = static_cast<index_t>(weight.size());
  const index_t n_used = n - std::count(weight.begin(), weight.end(), 0.0), d = tree.n_features;
  const double* weights = weight.data();
  Buffer<double> copies;
  if (kFew * n_used < n) {
    copies.reserve(n_used * d);
    double* next = copies.data();
    for (index_t i = 0; i < n; ++i)
      if (weight[i] != 0.0) next = std::copy_n(x + i * d, d, next);
    x = copies.data(), n = n_used, weights = nullptr;
  }
  Buffer<index_t> leaf(n);
  apply_tree(routing_of(tree), x, n, leaf.data(), execution);
  return bound_leaves(tree, {x, nullptr, weights, n, d, 0}, leaf, {extrapolation, std::numeric_limits<double>::infinity()}, execution);
}

// How many samples of a tree are searched, by what the targets' distances from their means tell; infinity for all.
double count_searched_of(const TrainingData& data, const Execution& execution) {
  const index_t n_rows = count_weighted(data, execution), n_outputs = data.n_outputs;
  Vector mean = Vector::Zero(n_outputs);
  double weight = 0.0;
  for (index_t i = 0; i < data.n_samples; ++i) {
    weight += data.weight_of(i);
    mean += data.weight_of(i) * VectorView(data.y + i * n_outputs, n_outputs);
  }
  std::vector<double> distance(data.y, data.y + data.n_samples * n_outputs);
  for (std::size_t at = 0; at < distance.size(); ++at) distance[at] -= mean[at % n_outputs] / weight;
  TrainingData centred = data;
  centred.y = distance.data();
  return kSearchedPart * count_searched(centred, n_rows, execution);
}

using GrowTree = std::function<MappedTree(const TrainingData&, const ObliqueParams&)>;

// Its splits are searched on some samples, and its models are of all.
MappedTree grow_on_sample(const TrainingData& data, const FeatureMap& map, const ObliqueParams& params,
                          const SearchedRows& searched, const Execution& execution) {
  const TrainingData sample = searched.of(data);
  const PackedRows packed(sample, weighted_rows(sample, execution), execution);
  MappedTree grown = grow_mapped_tree(packed.data(), map, searched.of(params), execution);
  TrainingData all = data;
  if (!grown.few.empty()) {
    grown.few = take_columns(data, places_of(grown.map.columns, map.columns), execution);
    all.n_features = grown.map.width();
    all.x = grown.few.data();
  }
  LocalStatistics statistics;
  statistics.set_offset(offset_of(grown.map));
  Buffer<index_t> leaf(data.n_samples);
  apply_tree(routing_of(grown.tree), all, leaf.data(), execution);
  grown.tree = refit_tree_on_team(grown.tree, all, params, statistics, execution, leaf);
  return grown;
}

// Where the tree would take all of many features: a linear model of all, and a tree of few on what it leaves, as one.
MappedTree grow_on_residuals(const TrainingData& data, const ObliqueParams& params, const GrowTree& grow,
                             const Execution& execution) {
  if (!may_take_few(data, params)) return grow(data, params);
  ObliqueParams linear = params;
  linear.max_depth = 0;
  MappedTree model = grow(data, linear);
  if (!model.few.empty()) return grow(data, params);
  std::vector<double> left(data.y, data.y + data.n_samples * data.n_outputs);
  Buffer<index_t> leaf(data.n_samples);
  std::fill_n(leaf.data(), leaf.size(), index_t{0});
  subtract_scores(model.tree, data, leaf, execution, left.data());
  TrainingData rest = data;
  rest.y = left.data();
  MappedTree tree = grow(rest, params);
  if (tree.few.empty()) return model;
  model.tree = sum_of(model.tree, std::move(tree.tree), places_of(tree.map.columns, model.map.columns));
  apply_tree(routing_of(model.tree), data.x, data.n_samples, leaf.data(), execution);
  find_means(data, leaf, execution, model.tree);
  return model;
}

GrownTree grow_one(const MappedSamples& mapped, const std::vector<std::uint8_t>& counts,
                   const ObliqueParams& tree_params, bool of_residuals, const Execution& execution) {
  TrainingData data = mapped.data;
  const index_t n = data.n_samples;
  std::vector<double> samples(n, 1.0);  // a row drawn twice is still one sample
  if (data.weight != nullptr) samples.assign(data.weight, data.weight + n);
  std::vector<double> weight = samples;
  if (!counts.empty())
    std::transform(counts.begin(), counts.end(), weight.begin(), weight.begin(), std::multiplies<>());
  data.weight = weight.data();
  data.count = samples.data();
  SearchedRows searched;
  if (tree_params.ridge_criterion && !tree_params.choose_alpha) {
    const index_t n_rows = count_weighted(data, execution), number = kSearchDraws + tree_params.node_features.tree;
    if (static_cast<double>(n_rows) > 2.0 * mapped.n_searched)
      searched.draw(data, mapped.rows, {number, 1.0, n_rows, mapped.n_searched}, execution);
  }
  const GrowTree grow = [&](const TrainingData& of, const ObliqueParams& params) {
    return searched.is_sample_for(params) && params.max_depth > 0
               ? grow_on_sample(of, mapped.map, params, searched, execution)
               : grow_mapped_tree(of, mapped.map, params, execution, {}, &mapped.index);
  };
  MappedTree grown = of_residuals ? grow_on_residuals(data, tree_params, grow, execution) : grow(data, tree_params);
  LeafBounds bounds = bounds_of(grown.tree, grown.x(data), weight, mapped.params.extrapolation, execution);
  return {std::move(grown.tree), std::move(grown.map), std::move(bounds)};
}

void grow_trees(const TrainingData& data, const std::vector<ForestTree>& wanted,
                const std::vector<ObliqueParams>& kinds, const ObliqueForestParams& params,
                const Execution& team, ObliqueTreesArrays& trees) {
  const Table table = table_of(data.x, data.n_features);
  const std::vector<index_t> varying = varying_columns(table, data.weight, data.n_samples, team);
  // The first kind says whether features are standardised; trees of steps don't mind.
  const FeatureMap map = find_feature_map({table, data.weight, data.n_samples}, varying,
                                          {kinds[0].fit_intercept, kinds[0].standardize}, team);
  const RowSampler rows = sampler_of(data, varying, params, team);
  MappedSamples mapped = {params, rows, data, map, {}, count_searched_of(data, team)};
  mapped.data.n_features = mapped.map.width();
  std::vector<double> features(data.n_samples * mapped.map.width());
  map_features(mapped.map, table, data.n_samples, features.data(), team);
  mapped.data.x = features.data();
  const index_t n_trees = static_cast<index_t>(wanted.size());
  const bool sorts = std::any_of(wanted.begin(), wanted.end(), [&](const ForestTree& tree) {
    return sorts_axes(kinds[tree.kind]);
  });
  if (sorts) mapped.index = index_features(mapped.data, mapped.map, team);
  const bool many = grows_many(mapped.data, n_trees, sorts, team.n_threads);
  const Execution inside = many ? team.on_one_thread() : team;
  const index_t at_once =
      std::max<index_t>(std::min(kTreesAtOnce, kWidthAtOnce / data.n_features), team.n_threads);
  for (index_t done = 0; done < n_trees; done += at_once) {
    const index_t size = std::min(at_once, n_trees - done);
    std::vector<GrownTree> grown(size);
    const auto grow = [&](index_t at) {
      const auto [number, kind] = wanted[done + at];
      ObliqueParams own = kinds[kind];
      own.node_features.seed = params.seed;
      own.node_features.tree = number;
      const std::vector<std::uint8_t> counts = counts_of(rows, number, params);
      if (!may_split(data, rows, counts, own.min_samples_leaf)) own.max_depth = 0;
      grown[at] = grow_one(mapped, counts, own, kind == kResidualKind, inside);
    };
    if (many)
      parallel_for(team, size, grow);
    else
      for (index_t at = 0; at < size; ++at) grow(at);
    for (GrownTree& one : grown) {
      append_tree(one.tree, one.bounds, one.map, 1.0, trees);
      one = {};  // wide trees are large
    }
  }
}

}  // namespace

ObliqueTreesArrays grow_forest(const TrainingData& data, const std::vector<ForestTree>& wanted,
                               const std::vector<ObliqueParams>& kinds,
                               const ObliqueForestParams& params, const Execution& execution) {
  ObliqueTreesArrays trees;
  trees.n_features = data.n_features;
  trees.n_outputs = data.n_outputs;
  with_team(execution, [&](const Execution& team) {
    grow_trees(data, wanted, kinds, params, team, trees);
  });
  return trees;
}

void sum_out_of_bag(const TrainingData& data, const ObliqueTreesView& trees,
                    const std::vector<index_t>& numbers, const ObliqueForestParams& params,
                    const OutOfBagSums& out, const Execution& execution) {
  const index_t n_outputs = data.n_outputs;
  const index_t n_trees = static_cast<index_t>(numbers.size());
  const RowSampler rows =
      sampler_of(data, varying_columns(table_of(data.x, data.n_features), data.weight, data.n_samples, execution),
                 params, execution);
  std::fill_n(out.scores, out.n_groups * data.n_samples * n_outputs, 0.0);
  std::fill_n(out.counts, out.n_groups * data.n_samples, 0);
  std::vector<std::uint8_t> judged(data.n_samples, 1);
  if (out.share < 1.0) rows.draw_part(kNoTree, out.share, execution, judged);
  with_team(execution, [&](const Execution& team) {
    const index_t most = std::clamp<index_t>(kCountsKnown / data.n_samples, 8, kTreesAtOnce);
    for (index_t first = 0; first < n_trees; first += most) {
      const index_t n_drawn = std::min(most, n_trees - first);
      std::vector<std::vector<std::uint8_t>> drawn(n_drawn);
      parallel_for(team, n_drawn,
                   [&](index_t at) { drawn[at] = counts_of(rows, numbers[first + at], params); });
      for_each_part(team, data.n_samples, kRowsJudged, [&](index_t, index_t begin, index_t end) {
        std::vector<double> sums;
        std::vector<index_t> left_out;
        for (index_t at = 0; at < n_drawn && !drawn[at].empty(); ++at) {
          left_out.clear();
          for (index_t i = begin; i < end; ++i)
            if (drawn[at][i] == 0 && judged[i] != 0) left_out.push_back(i);
          const index_t size = static_cast<index_t>(left_out.size());
          sums.assign(size * n_outputs, 0.0);
          add_trees(trees, {first + at, first + at + 1},
                    {data.x, false, data.n_features, left_out.data()}, size,
                    {sums.data(), n_outputs, 1}, Execution());
          const index_t of_group = (first + at) * out.n_groups / n_trees * data.n_samples;
          for (index_t row = 0; row < size; ++row) {
            const index_t place = of_group + left_out[row];
            ++out.counts[place];
            for (index_t k = 0; k < n_outputs; ++k) out.scores[place * n_outputs + k] += sums[row * n_outputs + k];
          }
        }
      });
    }
  });
}

}  // namespace fctree::ensembles
