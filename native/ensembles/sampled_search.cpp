#include "ensembles/sampled_search.hpp"

#include <algorithm>
#include <numeric>

#include "oblique/predict.hpp"

namespace fctree::ensembles {

namespace {

// Of one score, and half as many more for each other: as good as all in tables of 100,000 rows.
constexpr index_t kSearchedRows = 16384;

constexpr index_t kTaskRows = 4096;

// Of how many rows `weight` gives a positive one, of all places.
template <class Weight>
index_t count_positive(index_t n, const Weight& weight, const Execution& execution) {
  std::vector<index_t> counts(count_parts(n, kTaskRows), 0);
  for_each_part(execution, n, kTaskRows, [&](index_t p, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) counts[p] += weight(i) > 0.0;
  });
  return add_up(execution.all, std::accumulate(counts.begin(), counts.end(), index_t{0}));
}

}  // namespace

void SearchedRows::draw(const TrainingData& data, const RowSampler& sampler, index_t round, double probability,
                        const Execution& execution) {
  is_sample_ = false;
  share_ = 1.0;
  const index_t n = data.n_samples, n_wanted = kSearchedRows * (1 + data.n_outputs) / 2;
  const index_t n_rows = count_positive(n, [&](index_t i) { return data.weight[i]; }, execution);
  if (n_rows <= 2 * n_wanted) return;
  const double part = static_cast<double>(n_wanted) / static_cast<double>(n_rows);
  std::vector<std::uint8_t> drawn;
  sampler.draw_part(round, probability * part, nullptr, execution, drawn);
  weight_.reserve(n);
  const auto take = [&](index_t i) { return weight_[i] = drawn[i] == 0 ? 0.0 : data.weight[i]; };
  const index_t n_searched = count_positive(n, take, execution);
  if (2 * n_searched < n_wanted) return;  // equal rows are drawn together
  is_sample_ = true;
  share_ = static_cast<double>(n_searched) / static_cast<double>(n_rows);
}

TrainingData SearchedRows::of(TrainingData data) const {
  if (is_sample_) data.weight = weight_.data();
  return data;
}

ObliqueParams SearchedRows::of(ObliqueParams params) const {
  const auto part = [&](index_t fewest, index_t n) {
    return std::max(fewest, static_cast<index_t>(share_ * static_cast<double>(n)));
  };
  params.alpha *= share_;
  params.parent_weight *= share_;
  params.min_samples_leaf = part(1, params.min_samples_leaf);
  params.min_samples_split = part(2, params.min_samples_split);
  return params;
}

RoundTree grow_round_tree(const TrainingData& data, index_t kind, const ObliqueParams& params, const SearchedRows& searched,
                          BoostingStatistics& statistics, const Execution& execution) {
  const bool of_all = !searched.is_sample() || !params.ridge_criterion;
  RoundTree grown = {of_all ? statistics.grow(data, kind, params, execution)
                            : statistics.grow(searched.of(data), kind, searched.of(params), execution),
                     std::vector<index_t>(data.n_samples)};
  const ObliqueTreeArrays& tree = grown.arrays;
  apply_tree({tree.children_left.data(), tree.children_right.data(), tree.threshold.data(), tree.coef.data(), data.n_features},
             data, grown.leaf.data(), execution);
  if (!of_all) grown.arrays = statistics.refit(tree, data, kind, params, execution, grown.leaf);
  return grown;
}

}  // namespace fctree::ensembles
