#include "inspection/coalition_walk.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fctree::inspection {

CoalitionWalk::CoalitionWalk(const SparseTrees& trees, index_t n_players, const index_t* player)
    : trees_(trees), player_(player), n_outputs_(trees.view.n_outputs), state_(n_players) {}

void CoalitionWalk::add(const double* x, const double* b, index_t tree, double* phi) {
  x_ = x, b_ = b, phi_ = phi;
  compare();
  const TreeNodes nodes(trees_, tree);
  descend(nodes, nodes.root);
}

void CoalitionWalk::compare() {
  inside_.clear(), outside_.clear(), open_.clear();
  std::fill(state_.begin(), state_.end(), kSame);
  for (index_t j = 0; j < trees_.view.n_features; ++j)
    if (x_[j] != b_[j]) state_[player_[j]] = kOpen;
}

// Puts the terms of open players on the stack; returns the sum of the others.
double CoalitionWalk::gather(const Terms& terms) {
  const std::size_t first = open_.size();
  double known = 0.0;
  for (const Term& term : terms) {
    const double of_x = term.coef * x_[term.column], of_b = term.coef * b_[term.column];
    const std::int8_t state = state_[term.player];
    if (state != kOpen)
      known += state == kOutside ? of_b : of_x;
    else if (open_.size() > first && open_.back().player == term.player)
      open_.back().of_x += of_x, open_.back().of_b += of_b;
    else
      open_.push_back({term.player, of_x, of_b, 0.0, 0.0});
  }
  return known;
}

void CoalitionWalk::set_ranges(std::size_t first) {
  double least = 0.0, most = 0.0;
  for (std::size_t at = open_.size(); at-- > first;) {
    least += std::min(open_[at].of_x, open_[at].of_b);
    most += std::max(open_[at].of_x, open_[at].of_b);
    open_[at].least = least, open_[at].most = most;
  }
}

void CoalitionWalk::take(index_t player, State side) {
  if (inside_.size() + outside_.size() >= ShapleyWeights::kMostPlayers)
    throw std::invalid_argument(
        "the splits of a tree depend on too many features for exact Shapley values; use "
        "method='aumann_shapley'");
  state_[player] = side;
  (side == kInside ? inside_ : outside_).push_back(player);
}

void CoalitionWalk::give_back(index_t player) {
  (state_[player] == kInside ? inside_ : outside_).pop_back();
  state_[player] = kOpen;
}

void CoalitionWalk::descend(const TreeNodes& tree, index_t node) {
  const std::size_t first = open_.size();
  while (!tree.is_leaf(node)) {
    const double known = gather(trees_.splits[node]);
    if (open_.size() > first) {
      set_ranges(first);
      const double threshold = tree.view.threshold[node];
      if (known + open_[first].most > threshold && known + open_[first].least <= threshold) {
        branch(tree, node, first, known);
        open_.resize(first);
        return;
      }
      node = tree.child(node, known + open_[first].most <= threshold);
      open_.resize(first);
    } else {
      node = tree.child(node, known <= tree.view.threshold[node]);
    }
  }
  reach(tree, node);
}

// Both cases of the open player at `at`, until the side of the split does not depend on the rest.
void CoalitionWalk::branch(const TreeNodes& tree, index_t node, std::size_t at, double sum) {
  const double threshold = tree.view.threshold[node];
  const bool last = at == open_.size();
  const double least = last ? 0.0 : open_[at].least, most = last ? 0.0 : open_[at].most;
  if (last || sum + most <= threshold || sum + least > threshold) {
    descend(tree, tree.child(node, sum + most <= threshold));
    return;
  }
  const Open open = open_[at];
  take(open.player, kInside);
  branch(tree, node, at + 1, sum + open.of_x);
  give_back(open.player);
  take(open.player, kOutside);
  branch(tree, node, at + 1, sum + open.of_b);
  give_back(open.player);
}

void CoalitionWalk::reach(const TreeNodes& tree, index_t node) {
  const std::size_t first = open_.size();
  const index_t row = tree.leaf_row(node);
  for (index_t k = 0; k < n_outputs_; ++k) {
    const Leaf leaf = {k, tree.view.leaf_lower[row + k], tree.view.leaf_upper[row + k]};
    const double known = tree.view.leaf_intercept[row + k] + gather(trees_.leaves[row + k]);
    set_ranges(first);
    const bool open = open_.size() > first;
    if (open && (known + open_[first].least < leaf.lower || known + open_[first].most > leaf.upper)) {
      // What moves the score most first: the bounds are then decided early.
      std::stable_sort(open_.begin() + first, open_.end(), [](const Open& a, const Open& b) {
        return std::abs(a.of_x - a.of_b) > std::abs(b.of_x - b.of_b);
      });
      set_ranges(first);
    }
    settle(leaf, first, known);
    open_.resize(first);
  }
}

// The leaf's score is linear, constant or, until enough players are given, cut by a bound.
void CoalitionWalk::settle(const Leaf& leaf, std::size_t at, double sum) {
  const bool last = at == open_.size();
  const double least = sum + (last ? 0.0 : open_[at].least);
  const double most = sum + (last ? 0.0 : open_[at].most);
  if (last || most <= leaf.lower || least >= leaf.upper) {
    add_game(leaf.output, std::min(std::max(most, leaf.lower), leaf.upper), 0);
    return;
  }
  if (least >= leaf.lower && most <= leaf.upper) {
    add_linear(leaf, at, sum);
    return;
  }
  const Open open = open_[at];
  if (open.of_x == open.of_b) {
    settle(leaf, at + 1, sum + open.of_b);
    return;
  }
  take(open.player, kInside);
  settle(leaf, at + 1, sum + open.of_x);
  give_back(open.player);
  take(open.player, kOutside);
  settle(leaf, at + 1, sum + open.of_b);
  give_back(open.player);
}

// `worth` where all of inside_ and n_more others are in the coalition and none of outside_.
void CoalitionWalk::add_game(index_t output, double worth, index_t n_more) {
  const index_t n_inside = static_cast<index_t>(inside_.size()) + n_more;
  const index_t n_outside = outside_.size();
  if (!inside_.empty()) {
    const double each = worth * weights_.inside(n_inside, n_outside);
    for (const index_t j : inside_) phi_[j * n_outputs_ + output] += each;
  }
  if (n_outside > 0) {
    const double each = worth * weights_.outside(n_inside, n_outside);
    for (const index_t j : outside_) phi_[j * n_outputs_ + output] -= each;
  }
}

// A constant, and for each open player what it adds by itself.
void CoalitionWalk::add_linear(const Leaf& leaf, std::size_t at, double sum) {
  const double own = weights_.inside(inside_.size() + 1, outside_.size());
  double moved = 0.0;
  for (; at < open_.size(); ++at) {
    const double difference = open_[at].of_x - open_[at].of_b;
    phi_[open_[at].player * n_outputs_ + leaf.output] += difference * own;
    moved += difference;
    sum += open_[at].of_b;
  }
  add_game(leaf.output, sum, 0);
  if (moved != 0.0) add_game(leaf.output, moved, 1);
}

}  // namespace fctree::inspection
