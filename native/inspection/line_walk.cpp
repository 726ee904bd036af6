#include "inspection/line_walk.hpp"

#include <algorithm>
#include <cmath>

namespace fctree::inspection {

namespace {

// Parts of the line closer than this cross together: rounding would order them one way for a line and another for
// its reverse.
constexpr double kTogether = 1e-12;

// `at`, or an end of the part that is as near.
double snapped(double at, double begin, double end) {
  return std::abs(at - begin) <= kTogether ? begin : std::abs(at - end) <= kTogether ? end : at;
}

}  // namespace

LineWalk::Sums LineWalk::sums(const Terms& terms) const {
  Sums out = {0.0, 0.0};
  for (const Term& term : terms) {
    out.of_x += term.coef * x_[term.column];
    out.of_b += term.coef * b_[term.column];
  }
  return out;
}

void LineWalk::add(const double* x, const double* b, index_t tree, double* phi) {
  x_ = x, b_ = b, phi_ = phi;
  const TreeNodes nodes(trees_, tree);
  waiting_.assign(1, {nodes.root, 0.0, 1.0, -1});
  while (!waiting_.empty()) {
    Part part = waiting_.back();
    waiting_.pop_back();
    while (!nodes.is_leaf(part.node)) {
      const double threshold = nodes.view.threshold[part.node];
      const Sums sum = sums(trees_.splits[part.node]);
      const bool from = sum.of_b <= threshold, to = sum.of_x <= threshold;
      // Where the line crosses, if it does; ends count, so that the first and the last piece are in
      // the leaves of b and x.
      const double crossed = from == to ? 2.0 : std::clamp((threshold - sum.of_b) / (sum.of_x - sum.of_b), 0.0, 1.0);
      const double at = snapped(crossed, part.begin, part.end);
      if (from != to && part.begin <= at && at <= part.end) {
        waiting_.push_back({nodes.child(part.node, to), at, part.end, part.node});
        part.end = at;
        part.node = nodes.child(part.node, from);
      } else {
        part.node = nodes.child(part.node, at < part.begin ? to : from);
      }
    }
    add_piece(nodes, part);
  }
}

void LineWalk::add_piece(const TreeNodes& tree, const Part& part) {
  const index_t row = tree.leaf_row(part.node), n_outputs = tree.view.n_outputs;
  for (index_t k = 0; k < n_outputs; ++k) {
    const Terms terms = trees_.leaves[row + k];
    const double lower = tree.view.leaf_lower[row + k], upper = tree.view.leaf_upper[row + k];
    const Sums sum = sums(terms);
    const double start = tree.view.leaf_intercept[row + k] + sum.of_b;
    const double slope = sum.of_x - sum.of_b;
    const auto score = [&](double t) { return std::min(std::max(start + slope * t, lower), upper); };
    if (part.crossed >= 0) add_jump(part.crossed, k, score(part.begin) - ended_[k]);
    ended_[k] = score(part.end);
    // The part of the piece where no bound acts.
    double begin = part.begin, end = part.end;
    if (slope != 0.0) {
      const double first = ((slope > 0.0 ? lower : upper) - start) / slope;
      const double last = ((slope > 0.0 ? upper : lower) - start) / slope;
      begin = std::clamp(first, begin, end);
      end = std::clamp(last, begin, end);
    } else if (start <= lower || start >= upper) {
      continue;
    }
    for (const Term& term : terms)
      phi_[term.player * n_outputs + k] +=
          term.coef * (x_[term.column] - b_[term.column]) * (end - begin);
  }
}

void LineWalk::add_jump(index_t split, index_t output, double height) {
  const Terms terms = trees_.splits[split];
  double total = 0.0, size = 0.0;
  for (const Term& term : terms) {
    const double moved = term.coef * (x_[term.column] - b_[term.column]);
    total += moved;
    size += std::abs(moved);
  }
  const bool cancels = total == 0.0;  // by rounding: x and b are on different sides
  const double share = height / (cancels ? size : total);
  for (const Term& term : terms) {
    const double moved = term.coef * (x_[term.column] - b_[term.column]);
    phi_[term.player * trees_.view.n_outputs + output] +=
        share * (cancels ? std::abs(moved) : moved);
  }
}

}  // namespace fctree::inspection
