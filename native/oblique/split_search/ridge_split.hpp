// The best cut along one direction when each side predicts with its own ridge model (the ridge criterion).
//
// Samples are ordered by score, or put between quantiles of a sample's, and the products of the samples between
// two cuts are summed in that order: each prefix is one side of a cut, and the rest of the node's
// sums is the other. O(n d (d / 2 + K)) for the sums and O(d^2 (d + K)) per cut.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <vector>

#include "core/lazy_order.hpp"
#include "oblique/split_search/threshold.hpp"
#include "ridge/side_losses.hpp"

namespace fctree::oblique {

using namespace ridge;

struct ModelCutRules {
  CutRules cut;
  index_t max_thresholds;
  double lower = -std::numeric_limits<double>::infinity();  // the thresholds lie between these
  double upper = std::numeric_limits<double>::infinity();
};

// Chooses among cuts whose left products are known. Cuts are evaluated in batches.
class ModelCutChoice {
 public:
  // `products` as for best_model_cut.
  ModelCutChoice(const ChildModels& models, const RowMatrix& products, double node_loss)
      : losses_(models, products), node_loss_(node_loss) {}

  // Adds a cut. Two models: O(d^2 (d + K)).
  void consider(const RowMatrix& left, index_t n_left, double threshold);
  Cut best();

 private:
  static constexpr index_t kCutsAtOnce = kSidesAtOnce / 2;
  struct Waiting {
    RowMatrix left;
    index_t n_left;
    double threshold;
  };
  void judge();

  SideLosses losses_;
  double node_loss_;
  std::array<Waiting, kCutsAtOnce> waiting_;
  index_t n_waiting_ = 0;
  std::vector<double> tried_;
  Cut best_;
};

// The cuts that are tried along a direction: how many rows are on the left of each, ascending, and
// the rows, those of the left side of each cut before all others.
struct TriedCuts {
  std::vector<index_t> sizes;
  std::vector<double> thresholds;
  std::vector<std::int32_t> rows;

  index_t n() const { return static_cast<index_t>(sizes.size()); }
  // The rows between a cut and the one before it.
  NodeRows between(index_t cut) const {
    const index_t begin = cut == 0 ? 0 : sizes[cut - 1];
    return {rows.data() + begin, sizes[cut] - begin};
  }
};
// Of a node that is small enough to be sorted; of a large one find_sampled_cuts (sampled_cuts.hpp) finds them.
TriedCuts cuts_to_try(const TrainingData& data, const NodeRows& node, const double* scores,
                      const ModelCutRules& rules);

// `products` are those of the whole node about models.origin; add_between(i, products) adds those of
// the rows between cut i and the one before it. The cut's decrease is that of the loss.
Cut best_model_cut(const TriedCuts& cuts, const ChildModels& models, const RowMatrix& products,
                   double node_loss,
                   const std::function<void(index_t, RowMatrix&)>& add_between);

// Sizes of the left side at up to max_thresholds quantiles of the weight, each moved to the
// nearest place between two distinct scores; ascending.
std::vector<index_t> quantile_cuts(LazyOrder& order, const ModelCutRules& rules);

// The threshold that leaves so many samples on the left.
double cut_between(LazyOrder& order, index_t n_left);

}  // namespace fctree::oblique
