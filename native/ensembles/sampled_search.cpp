#include "ensembles/sampled_search.hpp"

#include <algorithm>

#include "oblique/predict.hpp"

namespace fctree::ensembles {

namespace {

// Of one score, and half as many more for each other: as good as all in tables of 100,000 rows.
constexpr index_t kSearchedRows = 16384;

index_t count_positive(const double* weight, index_t n, const Execution& execution) {
  return add_up(execution.all, std::count_if(weight, weight + n, [](double own) { return own > 0.0; }));
}

}  // namespace

SearchedRows search_rows(const TrainingData& data, const RowSampler& sampler, index_t round, double probability,
                         const Execution& execution) {
  const index_t n_rows = count_positive(data.weight, data.n_samples, execution);
  const index_t n_wanted = kSearchedRows * (1 + data.n_outputs) / 2;
  if (n_rows <= 2 * n_wanted) return {};
  const double part = static_cast<double>(n_wanted) / static_cast<double>(n_rows);
  std::vector<std::uint8_t> drawn;
  sampler.draw_part(round, probability * part, nullptr, execution, drawn);
  SearchedRows searched = {std::vector<double>(data.weight, data.weight + data.n_samples)};
  for (index_t i = 0; i < data.n_samples; ++i)
    if (drawn[i] == 0) searched.weight[i] = 0.0;
  const index_t n_searched = count_positive(searched.weight.data(), data.n_samples, execution);
  if (2 * n_searched < n_wanted) return {};  // equal rows are drawn together
  searched.share = static_cast<double>(n_searched) / static_cast<double>(n_rows);
  return searched;
}

TrainingData SearchedRows::of(TrainingData data) const {
  if (!weight.empty()) data.weight = weight.data();
  return data;
}

ObliqueParams SearchedRows::of(ObliqueParams params) const {
  const auto part = [&](index_t fewest, index_t n) {
    return std::max(fewest, static_cast<index_t>(share * static_cast<double>(n)));
  };
  params.alpha *= share;
  params.parent_weight *= share;
  params.min_samples_leaf = part(1, params.min_samples_leaf);
  params.min_samples_split = part(2, params.min_samples_split);
  return params;
}

RoundTree grow_round_tree(const TrainingData& data, index_t kind, const ObliqueParams& params, const SearchedRows& searched,
                          BoostingStatistics& statistics, const Execution& execution) {
  const bool of_all = searched.weight.empty() || !params.ridge_criterion;
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
