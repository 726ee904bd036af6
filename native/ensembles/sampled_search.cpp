#include "ensembles/sampled_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/integer_sums.hpp"
#include "oblique/predict.hpp"

namespace fctree::ensembles {

namespace {

// For one score, and half as many more for each further one, if all rows tell as much (share_that_tells is 1).
constexpr double kSearchedRows = 20480.0;
constexpr index_t kTaskRows = 4096;

// The effective share of n rows, (sum s)^2 / (n sum s^2) with the slopes s of the loss: 1 if all have the same slope, small
// for a rare class or few large errors. The slopes are counted in thousandths of the largest.
double share_that_tells(const TrainingData& data, index_t n_rows, const Execution& execution) {
  constexpr double kUnits = 1000.0;
  const index_t n = data.n_samples;
  const auto slope_of = [&](index_t i) {
    double sum = 0.0;
    for (index_t k = 0; k < data.n_outputs; ++k) sum += std::abs(data.y[i * data.n_outputs + k]);
    return data.weight_of(i) * sum;
  };
  std::vector<double> largest(count_parts(n, kTaskRows), 0.0);
  for_each_part(execution, n, kTaskRows, [&](index_t part, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) largest[part] = std::max(largest[part], slope_of(i));
  });
  const double of_place = largest.empty() ? 0.0 : *std::max_element(largest.begin(), largest.end());
  const double unit = take_largest(execution.all, of_place) / kUnits;
  if (!(unit > 0.0) || !std::isfinite(unit)) return 1.0;
  const auto slope = [&](index_t i) { return static_cast<index_t>(std::ceil(slope_of(i) / unit)); };
  const double sum = static_cast<double>(sum_integers(execution, n, kTaskRows, slope));
  const double squares = static_cast<double>(
      sum_integers(execution, n, kTaskRows, [&](index_t i) { return slope(i) * slope(i); }));
  return sum * sum / (static_cast<double>(n_rows) * squares);
}

}  // namespace

index_t count_weighted(const TrainingData& data, const Execution& execution) {
  return sum_integers(execution, data.n_samples, kTaskRows, [&](index_t i) -> index_t { return data.weight_of(i) > 0.0; });
}

double count_searched(const TrainingData& data, index_t n_rows, const Execution& execution) {
  constexpr double kAll = std::numeric_limits<double>::infinity();
  const double n_wanted = kSearchedRows * static_cast<double>(1 + data.n_outputs) / 2.0;
  const double most = static_cast<double>(n_rows) / 2.0;
  if (most <= n_wanted) return kAll;
  const double n_telling = n_wanted / share_that_tells(data, n_rows, execution);
  return most <= n_telling ? kAll : n_telling;
}

void SearchedRows::draw(const TrainingData& data, const RowSampler& sampler, const Draw& draw, const Execution& execution) {
  is_sample_ = false;
  share_ = 1.0;
  if (std::isinf(draw.n_wanted)) return;
  const index_t n = data.n_samples;
  const auto n_rows = static_cast<double>(draw.n_rows);
  std::vector<std::uint8_t> drawn;
  sampler.draw_part(draw.number, draw.probability * (draw.n_wanted / n_rows), execution, drawn);
  weight_.reserve(n);
  const auto take = [&](index_t i) -> index_t {
    weight_[i] = drawn[i] == 0 ? 0.0 : data.weight_of(i);
    return weight_[i] > 0.0;
  };
  const auto n_searched = static_cast<double>(sum_integers(execution, n, kTaskRows, take));
  if (2.0 * n_searched < draw.n_wanted) return;  // equal rows are drawn together
  is_sample_ = true;
  share_ = n_searched / n_rows;
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
  const bool of_all = !searched.is_sample_for(params);
  RoundTree grown = {of_all ? statistics.grow(data, kind, params, execution)
                            : statistics.grow(searched.of(data), kind, searched.of(params), execution),
                     Buffer<index_t>(data.n_samples)};
  const ObliqueTreeArrays& tree = grown.arrays;
  apply_tree(routing_of(tree), data, grown.leaf.data(), execution);
  if (!of_all) grown.arrays = statistics.refit(tree, data, kind, params, execution, grown.leaf);
  return grown;
}

}  // namespace fctree::ensembles
