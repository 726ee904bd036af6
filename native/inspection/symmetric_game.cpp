#include "inspection/symmetric_game.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "inspection/shapley_weights.hpp"

namespace fctree::inspection {

namespace {

// A tree's leaf values of one output at a time, as functions of the coalition.
class CoalitionValues {
 public:
  CoalitionValues(const SymmetricPlayers& players, const std::vector<double>& share,
                  CoalitionValue kind)
      : players_(players), share_(share), kind_(kind), rest_(share.size()), sums_(share.size()) {
    if (kind == CoalitionValue::path_dependent) sum_nodes();
  }

  // The bits of the coalition's features.
  void choose(index_t own) {
    own_ = own;
    if (kind_ == CoalitionValue::path_dependent) return;
    std::fill(rest_.begin(), rest_.end(), 0.0);
    for (index_t leaf = 0; leaf < size(); ++leaf) rest_[leaf & ~own] += share_[leaf];
  }

  // out[leaf]: the coalition's value for the samples of a leaf.
  void evaluate(const std::vector<double>& value, std::vector<double>& out) {
    if (kind_ == CoalitionValue::path_dependent)
      average_path(value, out);
    else
      average_background(value, out);
  }

 private:
  index_t size() const { return static_cast<index_t>(share_.size()); }

  void average_background(const std::vector<double>& value, std::vector<double>& out) {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for (index_t leaf = 0; leaf < size(); ++leaf)
      sums_[leaf & own_] += rest_[leaf & ~own_] * value[leaf];
    for (index_t leaf = 0; leaf < size(); ++leaf) out[leaf] = sums_[leaf & own_];
  }

  // From the last level, bit 0, to the first: levels outside of the coalition become averages.
  void average_path(const std::vector<double>& value, std::vector<double>& out) {
    out = value;
    for (index_t level = 0; level < players_.n_levels; ++level) {
      const index_t bit = index_t{1} << level;
      if (own_ & bit) continue;
      const double* node = nodes_.data() + level * size();
      for (index_t leaf = 0; leaf < size(); ++leaf) {
        if (leaf & bit) continue;
        const double left = node[leaf >> level], right = node[(leaf >> level) + 1];
        const double total = left + right;
        const double mean = total > 0.0 ? (left * out[leaf] + right * out[leaf | bit]) / total
                                        : 0.5 * (out[leaf] + out[leaf | bit]);
        out[leaf] = out[leaf | bit] = mean;
      }
    }
  }

  // nodes_[level * size + i]: the share of the i-th node above `level` last levels.
  void sum_nodes() {
    nodes_.assign(std::max<index_t>(players_.n_levels, 1) * size(), 0.0);
    for (index_t level = 0; level < players_.n_levels; ++level)
      for (index_t leaf = 0; leaf < size(); ++leaf)
        nodes_[level * size() + (leaf >> level)] += share_[leaf];
  }

  const SymmetricPlayers& players_;
  const std::vector<double>& share_;
  const CoalitionValue kind_;
  index_t own_ = 0;
  std::vector<double> rest_;  // the background's shares of the other features' bits
  std::vector<double> sums_;
  std::vector<double> nodes_;
};

}  // namespace

SymmetricPlayers players_of(const SymmetricTreesView& trees, index_t tree, const index_t* player) {
  const std::int32_t* feature = trees.split_feature + tree * trees.max_depth;
  SymmetricPlayers out;
  while (out.n_levels < trees.max_depth && feature[out.n_levels] >= 0) ++out.n_levels;
  out.unused_levels = trees.max_depth - out.n_levels;
  for (index_t level = 0; level < out.n_levels; ++level) {
    const index_t own = player[feature[level]];
    const auto found = std::find(out.player.begin(), out.player.end(), own);
    const index_t at = found - out.player.begin();
    if (found == out.player.end()) {
      out.player.push_back(own);
      out.bits.push_back(0);
    }
    out.bits[at] |= index_t{1} << (out.n_levels - 1 - level);
  }
  return out;
}

std::vector<double> shapley_by_leaf(const SymmetricTreesView& trees, index_t tree,
                                    const SymmetricPlayers& players,
                                    const std::vector<double>& share, CoalitionValue kind) {
  const index_t n_players = players.player.size(), n_leaves = players.n_leaves();
  const index_t n_outputs = trees.n_outputs;
  const double* leaf_values = trees.leaf_values + tree * trees.n_leaves() * n_outputs;
  const ShapleyWeights weights;
  CoalitionValues values(players, share, kind);
  std::vector<double> of_output(n_leaves), worth(n_leaves);
  std::vector<double> by_player(n_players * n_outputs * n_leaves, 0.0);
  for (index_t coalition = 0; coalition < index_t{1} << n_players; ++coalition) {
    check_interrupt();
    index_t own = 0, size = 0;
    for (index_t j = 0; j < n_players; ++j)
      if (coalition >> j & 1) own |= players.bits[j], ++size;
    values.choose(own);
    for (index_t k = 0; k < n_outputs; ++k) {
      for (index_t leaf = 0; leaf < n_leaves; ++leaf)
        of_output[leaf] = leaf_values[(leaf << players.unused_levels) * n_outputs + k];
      values.evaluate(of_output, worth);
      for (index_t j = 0; j < n_players; ++j) {
        // (size - 1)! (n - size)! / n! where j is in, -size! (n - size - 1)! / n! where it is not.
        const double weight = coalition >> j & 1 ? weights.inside(size, n_players - size)
                                                 : -weights.outside(size, n_players - size);
        double* out = by_player.data() + (j * n_outputs + k) * n_leaves;
        for (index_t leaf = 0; leaf < n_leaves; ++leaf) out[leaf] += weight * worth[leaf];
      }
    }
  }
  const index_t width = n_players * n_outputs;
  std::vector<double> out(width * n_leaves);
  for (index_t at = 0; at < width; ++at)
    for (index_t leaf = 0; leaf < n_leaves; ++leaf)
      out[leaf * width + at] = by_player[at * n_leaves + leaf];
  return out;
}

}  // namespace fctree::inspection
