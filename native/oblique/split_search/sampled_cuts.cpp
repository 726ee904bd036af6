#include "oblique/split_search/sampled_cuts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/buffer.hpp"
#include "core/rng.hpp"
#include "ridge/row_parts.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kSampledRows = 16384;
constexpr index_t kCountedRows = 4096;  // of a part

// Positions of a sample, one in each of as many stretches, so that what recurs in the rows isn't met
// again and again at the same place.
std::vector<index_t> sampled_positions(index_t n) {
  const Random random(0, Purpose::quantile_sample);
  std::vector<index_t> positions(kSampledRows);
  for (index_t i = 0; i < kSampledRows; ++i) {
    const double at = static_cast<double>(i) +
                      random.uniform(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(n), 0);
    positions[i] = static_cast<index_t>(at * static_cast<double>(n) / kSampledRows);
  }
  return positions;
}

// Ascending thresholds, each between two scores of the sample.
std::vector<double> sample_quantiles(const TrainingData& data, const NodeRows& node,
                                     const double* scores, ModelCutRules rules) {
  std::vector<std::int32_t> rows;
  std::vector<double> own;
  for (const index_t at : sampled_positions(node.size)) {
    rows.push_back(node.rows[at]);
    own.push_back(scores[at]);
  }
  rules.cut.min_samples_leaf = 1;  // the node's is looked at when its own rows are counted
  return quantile_thresholds(data, {rows.data(), kSampledRows}, own.data(), rules);
}

// What some rows have of an interval between two quantiles of the sample.
struct Interval {
  index_t number;  // of rows; then the place of the next one
  double lowest, highest;
};

// What is known of a direction: after its scores, in the order of the functions.
class Intervals {
 public:
  Intervals(const TrainingData& data, const SampledSearch& search)
      : data_(data), search_(search), scores_(search.node.size), interval_(search.node.size) {}

  double* scores() { return scores_.data(); }

  void find_thresholds() {
    thresholds_ = sample_quantiles(data_, search_.node, scores_.data(), search_.rules);
  }

  // Of size rows from `begin` on, a part.
  std::vector<Interval> count(index_t begin, index_t size) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<Interval> counted(thresholds_.size() + 1, {0, kInfinity, -kInfinity});
    for (index_t at = begin; at < begin + size; ++at) {
      const double score = scores_[at];
      const index_t of_row =
          interval_of(thresholds_.data(), static_cast<index_t>(thresholds_.size()), score);
      interval_[at] = static_cast<std::int32_t>(of_row);
      Interval& interval = counted[of_row];
      ++interval.number;
      interval.lowest = std::min(interval.lowest, score);
      interval.highest = std::max(interval.highest, score);
    }
    return counted;
  }

  // Of what the parts have, whose numbers become places.
  void choose(std::vector<Interval>* parts, index_t n_parts) {
    std::vector<Interval> whole = parts[0];
    const index_t n_intervals = static_cast<index_t>(whole.size());
    for (index_t p = 1; p < n_parts; ++p)
      for (index_t i = 0; i < n_intervals; ++i) {
        whole[i].number += parts[p][i].number;
        whole[i].lowest = std::min(whole[i].lowest, parts[p][i].lowest);
        whole[i].highest = std::max(whole[i].highest, parts[p][i].highest);
      }
    double lowest = whole[0].lowest, highest = whole[0].highest;
    for (const Interval& interval : whole) {
      lowest = std::min(lowest, interval.lowest);
      highest = std::max(highest, interval.highest);
    }
    const CutRules& rules = search_.rules.cut;
    const double gap = least_gap(rules, lowest, highest);
    TriedCuts& cuts = *search_.cuts;
    cuts.rows.resize(search_.node.size);
    index_t size = 0;
    for (index_t i = 0; i < n_intervals; ++i) {
      for (index_t p = 0; p < n_parts; ++p) size += std::exchange(parts[p][i].number, size);
      if (i + 1 == n_intervals || std::min(size, search_.node.size - size) < rules.min_samples_leaf ||
          !(whole[i + 1].lowest - whole[i].highest > gap))  // the sample is in every interval
        continue;
      cuts.sizes.push_back(size);
      cuts.thresholds.push_back(midpoint(whole[i].highest, whole[i + 1].lowest));
    }
  }

  void place(index_t begin, index_t size, std::vector<Interval>& part) const {
    for (index_t at = begin; at < begin + size; ++at)
      search_.cuts->rows[part[interval_[at]].number++] = search_.node.rows[at];
  }

 private:
  const TrainingData& data_;
  const SampledSearch& search_;
  std::vector<double> thresholds_;
  Buffer<double> scores_;
  Buffer<std::int32_t> interval_;  // of each row
};

}  // namespace

void find_sampled_cuts(const TrainingData& data, const std::vector<SampledSearch>& searches,
                       const Execution& execution) {
  std::vector<NodeRows> nodes;
  std::vector<Intervals> found;
  found.reserve(searches.size());
  for (const SampledSearch& search : searches) {
    nodes.push_back(search.node);
    found.emplace_back(data, search);
  }
  const index_t n_searches = static_cast<index_t>(searches.size());
  const RowParts parts(nodes, kCountedRows);
  std::vector<std::vector<Interval>> counted(parts.n());
  const auto score = [&](index_t p) {
    const auto [s, begin, rows] = parts[p];
    searches[s].score(begin, rows, found[s].scores() + begin);
  };
  const auto find_thresholds = [&](index_t s) { found[s].find_thresholds(); };
  const auto count = [&](index_t p) {
    counted[p] = found[parts[p].node].count(parts[p].begin, parts[p].rows.size);
  };
  const auto choose = [&](index_t s) {
    found[s].choose(counted.data() + parts.first(s), parts.first(s + 1) - parts.first(s));
  };
  const auto place = [&](index_t p) {
    found[parts[p].node].place(parts[p].begin, parts[p].rows.size, counted[p]);
  };
  parallel_phases(execution, {{parts.n(), score},
                              {n_searches, find_thresholds},
                              {parts.n(), count},
                              {n_searches, choose},
                              {parts.n(), place}});
}

}  // namespace fctree::oblique
