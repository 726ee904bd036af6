#include "oblique/split_search/sampled_cuts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/argsort.hpp"
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
    positions[i] = std::min(static_cast<index_t>(at * static_cast<double>(n) / kSampledRows), n - 1);
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
  return cuts_to_try(data, {rows.data(), kSampledRows}, own.data(), rules).thresholds;
}

// The samples of some rows in an interval between two quantiles of the sample.
struct Interval {
  index_t number;  // of rows; then the place of the next one
  double lowest, highest;
};

// Of a direction.
struct Intervals {
  explicit Intervals(index_t size) : scores(size), of_row(size) {}

  std::vector<double> thresholds;
  Buffer<double> scores;
  Buffer<std::int32_t> of_row;
};

// Of a part of the rows.
std::vector<Interval> count_rows(Intervals& found, const RowParts::Part& part) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const index_t n_thresholds = static_cast<index_t>(found.thresholds.size());
  std::vector<Interval> counted(n_thresholds + 1, {0, kInfinity, -kInfinity});
  for (index_t at = part.begin; at < part.begin + part.rows.size; ++at) {
    const double score = found.scores[at];
    const index_t own = interval_of(found.thresholds.data(), n_thresholds, score);
    found.of_row[at] = static_cast<std::int32_t>(own);
    ++counted[own].number;
    counted[own].lowest = std::min(counted[own].lowest, score);
    counted[own].highest = std::max(counted[own].highest, score);
  }
  return counted;
}

// Of what the parts have, whose numbers become places.
void choose_cuts(const SampledSearch& search, std::vector<Interval>* parts, index_t n_parts) {
  const index_t n = search.node.size, n_intervals = static_cast<index_t>(parts[0].size());
  std::vector<Interval> whole = parts[0];
  double lowest = whole[0].lowest, highest = whole[0].highest;
  for (index_t i = 0; i < n_intervals; ++i) {
    for (index_t p = 1; p < n_parts; ++p) {
      whole[i].lowest = std::min(whole[i].lowest, parts[p][i].lowest);
      whole[i].highest = std::max(whole[i].highest, parts[p][i].highest);
    }
    lowest = std::min(lowest, whole[i].lowest);
    highest = std::max(highest, whole[i].highest);
  }
  const CutRules& rules = search.rules.cut;
  const double gap = least_gap(rules, lowest, highest);
  search.cuts->rows.resize(n);
  index_t size = 0;
  for (index_t i = 0; i < n_intervals; ++i) {
    for (index_t p = 0; p < n_parts; ++p) size += std::exchange(parts[p][i].number, size);
    if (i + 1 == n_intervals || std::min(size, n - size) < rules.min_samples_leaf ||
        !(whole[i + 1].lowest - whole[i].highest > gap))  // the sample is in every interval
      continue;
    search.cuts->sizes.push_back(size);
    search.cuts->thresholds.push_back(midpoint(whole[i].highest, whole[i + 1].lowest));
  }
}

}  // namespace

void find_sampled_cuts(const TrainingData& data, const std::vector<SampledSearch>& searches,
                       const Execution& execution) {
  std::vector<NodeRows> nodes;
  std::vector<Intervals> found;
  for (const SampledSearch& search : searches) {
    nodes.push_back(search.node);
    found.emplace_back(search.node.size);
  }
  const index_t n_searches = static_cast<index_t>(searches.size());
  const RowParts parts(nodes, kCountedRows);
  std::vector<std::vector<Interval>> counted(parts.n());
  const auto score = [&](index_t p) {
    const auto [s, begin, rows] = parts[p];
    searches[s].score(begin, rows, found[s].scores.data() + begin);
  };
  const auto find_thresholds = [&](index_t s) {
    found[s].thresholds = sample_quantiles(data, nodes[s], found[s].scores.data(), searches[s].rules);
  };
  const auto count = [&](index_t p) { counted[p] = count_rows(found[parts[p].node], parts[p]); };
  const auto choose = [&](index_t s) {
    choose_cuts(searches[s], counted.data() + parts.first(s), parts.first(s + 1) - parts.first(s));
  };
  const auto place = [&](index_t p) {
    const auto [s, begin, rows] = parts[p];
    for (index_t i = 0; i < rows.size; ++i)
      searches[s].cuts->rows[counted[p][found[s].of_row[begin + i]].number++] = rows.rows[i];
  };
  parallel_phases(execution, {{parts.n(), score},
                              {n_searches, find_thresholds},
                              {parts.n(), count},
                              {n_searches, choose},
                              {parts.n(), place}});
}

}  // namespace fctree::oblique
