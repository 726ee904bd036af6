// Shapley values of one symmetric tree, tabulated by leaf.
//
// What a coalition of features is worth depends on a sample only through its leaf, whose bits say how
// the sample answers each level. So the values of all samples of a leaf are equal, and a background
// counts only by the number of its samples in each leaf: tables of 2^levels rows hold them all
// (Nadel and Wettenstein, 2025).
#pragma once

#include <vector>

#include "symmetric/model.hpp"

namespace fctree::inspection {

using namespace symmetric;

// The features of a tree as players: features with the same player join and leave together.
struct SymmetricPlayers {
  index_t n_levels = 0;           // used ones
  index_t unused_levels = 0;      // the lowest bits of a leaf's index, always 0
  std::vector<index_t> player;    // distinct ones, in the order of their first level
  std::vector<index_t> bits;      // the bits that each decides, of indices without unused levels

  index_t n_leaves() const { return index_t{1} << n_levels; }
};

SymmetricPlayers players_of(const SymmetricTreesView& trees, index_t tree, const index_t* player);

// Values of a coalition's game for a sample of any leaf.
enum class CoalitionValue { interventional, path_dependent };

// (n_leaves, players, n_outputs): Shapley values of the samples of each leaf. `share` (n_leaves) are
// the leaves' shares of the background. A coalition S is worth, for
//   interventional   the mean over the background of the tree with the features of S from the sample;
//   path_dependent   the tree's value where levels of other features are averaged over both children,
//                    by the children's shares; halves where neither has any.
// O(2^(levels + players) players n_outputs).
std::vector<double> shapley_by_leaf(const SymmetricTreesView& trees, index_t tree,
                                    const SymmetricPlayers& players,
                                    const std::vector<double>& share, CoalitionValue kind);

}  // namespace fctree::inspection
