#include "symmetric/monotone.hpp"

#include <algorithm>
#include <cmath>

namespace fctree::symmetric {

namespace {

constexpr int kRounds = 100;

using Chain = std::vector<index_t>;  // leaves from low to high values of one feature

// The chains of a feature: for each combination of the other levels' decisions, the leaves
// reachable by its own levels' decisions, in the order of the feature. Leaves of missing values
// are in no chain.
std::vector<Chain> chains_of(const std::vector<LevelSplit>& splits, index_t feature,
                             const std::vector<std::uint8_t>& parts_missing) {
  const index_t depth = static_cast<index_t>(splits.size());
  std::vector<std::pair<index_t, index_t>> own;  // (code, bit), by code
  index_t mask = 0;
  for (index_t level = 0; level < depth; ++level) {
    if (splits[level].feature != feature) continue;
    const index_t bit = index_t{1} << (depth - 1 - level);
    mask |= bit;
    if (!parts_missing[level]) own.push_back({splits[level].code, bit});
  }
  std::sort(own.begin(), own.end());
  std::vector<index_t> answers = {0};  // bits set, as more and more thresholds are passed
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i == 0 || own[i].first != own[i - 1].first) answers.push_back(answers.back());
    answers.back() |= own[i].second;
  }
  std::vector<Chain> chains;
  for (index_t rest = 0; rest < index_t{1} << depth; ++rest) {
    if ((rest & mask) != 0) continue;
    Chain chain;
    for (const index_t answer : answers) chain.push_back(rest | answer);
    chains.push_back(chain);
  }
  return chains;
}

// Weighted isotonic regression along a chain (pool adjacent violators), non-decreasing in
// sign * value.
void project(const Chain& chain, double sign, const std::vector<double>& weight,
             std::vector<double>& value) {
  struct Block {
    double mean, weight;
    index_t size;
  };
  std::vector<Block> blocks;
  for (const index_t leaf : chain) {
    blocks.push_back({sign * value[leaf], weight[leaf], 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean > blocks.back().mean) {
      const Block top = blocks.back();
      blocks.pop_back();
      Block& joint = blocks.back();
      const double total = joint.weight + top.weight;
      joint.mean = (joint.weight * joint.mean + top.weight * top.mean) / total;
      joint.weight = total;
      joint.size += top.size;
    }
  }
  std::size_t at = 0;
  for (const Block& block : blocks)
    for (index_t i = 0; i < block.size; ++i) value[chain[at++]] = sign * block.mean;
}

// Rounding and finite iterations leave tiny violations: use the highest value so far. A
// pass along one feature keeps the order along the others.
void make_exact(const Chain& chain, double sign, std::vector<double>& value) {
  for (std::size_t i = 1; i < chain.size(); ++i)
    value[chain[i]] = sign * std::max(sign * value[chain[i - 1]], sign * value[chain[i]]);
}

}  // namespace

void make_monotone(const std::vector<LevelSplit>& splits, const std::int8_t* directions,
                   const std::vector<std::uint8_t>& parts_missing, LeafValues& leaves) {
  std::vector<index_t> features;
  for (const LevelSplit& split : splits)
    if (directions[split.feature] != 0 &&
        std::find(features.begin(), features.end(), split.feature) == features.end())
      features.push_back(split.feature);
  if (features.empty()) return;

  // Empty leaves have negligible weight.
  double total = 0.0;
  for (const double w : leaves.weight) total += w;
  std::vector<double> weight = leaves.weight;
  for (double& w : weight) w = std::max(w, 1e-9 * total + 1e-300);

  std::vector<std::vector<Chain>> chains;
  for (const index_t feature : features)
    chains.push_back(chains_of(splits, feature, parts_missing));
  std::vector<double>& value = leaves.value;
  std::vector<std::vector<double>> corrections(features.size(),
                                               std::vector<double>(value.size(), 0.0));
  double largest = 0.0;
  for (const double v : value) largest = std::max(largest, std::abs(v));
  const int rounds = features.size() == 1 ? 1 : kRounds;
  for (int round = 0; round < rounds; ++round) {
    double moved = 0.0;
    for (std::size_t f = 0; f < features.size(); ++f) {
      std::vector<double> before = value;
      for (std::size_t leaf = 0; leaf < value.size(); ++leaf) before[leaf] += corrections[f][leaf];
      std::vector<double> after = before;
      for (const Chain& chain : chains[f])
        project(chain, directions[features[f]], weight, after);
      for (std::size_t leaf = 0; leaf < value.size(); ++leaf) {
        corrections[f][leaf] = before[leaf] - after[leaf];
        moved = std::max(moved, std::abs(after[leaf] - value[leaf]));
      }
      value = after;
    }
    if (moved <= 1e-12 * largest) break;
  }
  for (std::size_t f = 0; f < features.size(); ++f)
    for (const Chain& chain : chains[f])
      make_exact(chain, directions[features[f]], value);
}

}  // namespace fctree::symmetric
