// The best threshold along one direction (FC-ODT, step 3): the cut of the node's sorted
// scores that lowers the mean squared error most when each side predicts a constant.
// With class indicators as outputs that is the Gini decrease.
#pragma once

#include <limits>
#include <memory>

#include "core/matrix.hpp"
#include "ridge/training_data.hpp"

namespace fctree::oblique {

using namespace ridge;

// Reading many rows in the order of a score reads memory at random: above this number, cuts between bins or at
// quantiles of a sample are several times faster.
constexpr index_t kMostSortedRows = 65536;

struct Cut {
  bool found = false;
  double threshold = 0.0;  // left is score <= threshold
  double decrease = 0.0;   // of the criterion
  index_t n_left = 0;
  double left_loss = 0.0;  // of the sides, filled by the ridge criterion only
  double right_loss = 0.0;
  // Of the ridge criterion: the thresholds tried beside this one, between which a better one may lie.
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

// Whether a candidate beats the best of those before it. Candidates that are equal in exact
// arithmetic differ by rounding; the first has to win, so that duplicating a sample is the same as
// weighting it.
inline double least_better(double best) { return best * (1.0 + 1e-10); }
inline bool is_better(double decrease, double best) { return decrease > least_better(best); }
// The same of the ridge criterion: losses, not their differences, carry the rounding error, so that ties are relative
// to the node's loss.
inline bool is_better_by_models(double decrease, double best, double node_loss) {
  return decrease > best + 1e-10 * node_loss;
}

// A scan over cuts from left to right under the constant criterion: by how much a cut lowers the
// weighted variance, summed over outputs. kOutputs: 1, whose sum stays in a register, or
// Eigen::Dynamic.
template <int kOutputs = Eigen::Dynamic>
class ConstantScan {
 public:
  // Of samples of this weight.
  ConstantScan(index_t n_outputs, double weight)
      : weight_(weight), sums_(Outputs::Zero(n_outputs)) {}

  // Moves samples to the left side: their weight, and their sums of w (y - mean).
  template <class Sums>
  void move(double weight, const Sums& sums) {
    left_weight_ += weight;
    sums_ += sums;
  }
  // Whether a cut here beats the best before: is_better without a division.
  bool improves() const {
    const double weights = left_weight_ * (weight_ - left_weight_);
    return weights > 0.0 && sums_.squaredNorm() > to_beat_ * weights;
  }
  void take(double threshold, index_t n_left) {
    const double decrease = sums_.squaredNorm() / (left_weight_ * (weight_ - left_weight_));
    best_ = {true, threshold, decrease, n_left, 0.0, 0.0};
    to_beat_ = least_better(decrease);
  }
  const Cut& best() const { return best_; }

 private:
  using Outputs = Eigen::Matrix<double, kOutputs, 1>;
  double weight_, left_weight_ = 0.0, to_beat_ = 0.0;
  Outputs sums_;
  Cut best_;
};

struct CutRules {
  index_t min_samples_leaf;
  double score_noise;  // the rounding error of a score
};

// The rounding error of scores whose terms are of this size.
inline double rounding_of_scores(double size) {
  return 8.0 * std::numeric_limits<double>::epsilon() * size;
}

// Scores closer than this count as equal: rounding, their own or the direction's, must not decide
// where to cut.
inline double least_gap(const CutRules& rules, double lowest, double highest) {
  const double relative = 1e-10 * (highest - lowest);
  return relative > rules.score_noise ? relative : rules.score_noise;
}

// Which of n + 1 intervals between ascending thresholds a score is in: how many of them are below
// it. A mask, as compilers make a branch of a choice, which would be mispredicted half of the time.
inline index_t interval_of(const double* thresholds, index_t n, double score) {
  const double* base = thresholds;
  for (index_t rest = n; rest > 1;) {
    const index_t half = rest / 2;
    base += half & -static_cast<index_t>(base[half - 1] < score);
    rest -= half;
  }
  return base - thresholds + (n > 0 && *base < score ? 1 : 0);
}

// Scores in ascending order and their rows.
struct OrderedScores {
  const double* values;
  const std::int32_t* rows;
  index_t size;
};

// Sorts n scores, equal ones by position, into values and rows; rows are positions where `from` is
// null. O(n) where scores are spread, as argsort.
void sort_scores(const double* scores, const std::int32_t* from, index_t n, double* values,
                 std::int32_t* rows);

// Storage for the sorted scores of one node.
struct SortedScores {
  SortedScores(const double* scores, const NodeRows& node);
  OrderedScores view() const { return {values.get(), rows.get(), size}; }

  index_t size;
  std::unique_ptr<double[]> values;
  std::unique_ptr<std::int32_t[]> rows;
};

// The best cut of a node whose targets have this mean (K) and weight; the decrease is that
// of the weighted variance, summed over outputs. O(n K).
Cut best_cut(const TrainingData& data, const OrderedScores& scores, const Vector& mean,
             double weight, const CutRules& rules);

}  // namespace fctree::oblique
