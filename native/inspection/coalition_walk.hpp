// Shapley values of an oblique tree for a sample x and a background sample b: the game in which
// a coalition's features come from x and all others from b.
//
// The walk goes down the tree and gives a feature to x or to b only where that decides which
// child, or whether a bound of the leaf is reached: both cases are then followed. At a leaf some
// features have to be x's and some have to be b's to get there; what the leaf adds is a sum of unanimity
// games with opponents, whose values are known (ShapleyWeights). Exact; at most 2^q leaves, q the
// features of a path that differ between x and b (with those of a leaf that its bounds cut).
#pragma once

#include <vector>

#include "inspection/shapley_weights.hpp"
#include "inspection/sparse_trees.hpp"

namespace fctree::inspection {

class CoalitionWalk {
 public:
  CoalitionWalk(const SparseTrees& trees, index_t n_players, const index_t* player);

  // Adds to phi (n_players, n_outputs). Throws std::invalid_argument where q exceeds
  // ShapleyWeights::kMostPlayers.
  void add(const double* x, const double* b, index_t tree, double* phi);

 private:
  enum State : std::int8_t { kSame, kOpen, kInside, kOutside };
  // A player that is in no list yet, and the terms of a sum with the values of x and b.
  struct Open {
    index_t player;
    double of_x, of_b;
    double least, most;  // of the sum from here to the last one
  };
  struct Leaf {
    index_t output;
    double lower, upper;
  };

  void compare();
  double gather(const Terms& terms);
  void set_ranges(std::size_t first);
  void descend(const TreeNodes& tree, index_t node);
  void branch(const TreeNodes& tree, index_t node, std::size_t at, double sum);
  void reach(const TreeNodes& tree, index_t node);
  void settle(const Leaf& leaf, std::size_t at, double sum);
  void add_game(index_t output, double worth, index_t n_more);
  void add_linear(const Leaf& leaf, std::size_t at, double sum);
  void take(index_t player, State side);
  void give_back(index_t player);

  const SparseTrees& trees_;
  const index_t* player_;
  const index_t n_outputs_;
  const ShapleyWeights weights_;
  const double* x_ = nullptr;
  const double* b_ = nullptr;
  double* phi_ = nullptr;
  std::vector<std::int8_t> state_;          // (n_players)
  std::vector<index_t> inside_, outside_;   // players given to x, to b
  std::vector<Open> open_;                  // a stack
};

}  // namespace fctree::inspection
