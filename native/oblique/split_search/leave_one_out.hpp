// The leave-one-out test of splits, by the models that they were chosen for.
//
// The winner of many candidates and cuts looks better than it is. So a split is accepted by
// leave-one-out: with D_i the decrease of sample i's squared leave-one-out residual from the
// node's model to the child's, times its weight where that is a second derivative of its loss,
//     sum D_i > split_margin * sqrt(2 log T) * sqrt(n) * std(D),
// T the number of cuts that the split was chosen from: sqrt(2 log T) is about what the largest of T standard
// normal variables reaches by chance. Leave-one-out residuals are closed-form,
// r_i / (1 - h_i), h_i the leverage. O(n d^2) per node.
//
// A sample far from all others has a decrease that says nothing about them and is larger than theirs
// together. So D_i is limited to -t .. t, with the largest t for which the D_i^2 are those of four samples
// at least, or of a sixteenth of them: sum min(D_i^2, t^2) >= t^2 min(4, n / 16), n those with D_i != 0.
#pragma once

#include <array>

#include "ridge/moments.hpp"
#include "ridge/ridge.hpp"

namespace fctree::oblique {

using namespace ridge;

// A fitted ridge model with the factor that leverages need.
struct LeverageModel {
  Matrix coef;        // (d, K)
  Vector intercept;   // (K)
  Vector mean;        // (d), raw: the centre of the fit
  RowMatrix inverse;  // (d, spd_stride(d)): inverse factor of the fit's system; empty for a constant
  double base;        // leverage of a sample at the mean
};
// The mean of samples of this weight.
LeverageModel constant_model(const Vector& mean, double weight, index_t n_features);

// From the moments that the model was fitted to, its own samples' and the prior's.
LeverageModel leverage_model(const Moments& pooled, const RidgeFit& fit, const Matrix& ancestors,
                             const Vector& origin, const RidgeOptions& options);

// Leverages of some samples without the constant's, `model.base`; out (size).
void find_leverages(const TrainingData& data, const NodeRows& samples, const LeverageModel& model,
                    double* out);

// Sums over samples of the decreases D, in units of some loss, and of their squares, for each power of 2
// that |D| may lie above: t is one of these.
class DecreaseSums {
 public:
  static constexpr int kLeastExponent = -32, kExponents = 64, kSums = 4;
  static constexpr int size() { return 1 + kExponents * kSums; }

  void add(double decrease, double count);
  void add(const double* others);
  const double* data() const { return values_.data(); }
  // The sums with limited decreases.
  struct Limited {
    double count;
    double total;
    double squares;
  };
  Limited limited() const;

 private:
  enum { gains, losses, total, squares };  // numbers of positive and of negative decreases, and the sums
  const double* of(int exponent) const { return values_.data() + 1 + exponent * kSums; }
  std::array<double, 1 + kExponents * kSums> values_{};  // first the number of samples
};

// `unit` is a typical loss: squares of losses in y's own unit could overflow.
DecreaseSums sum_decreases(const TrainingData& data, const NodeRows& samples,
                           const LeverageModel& node, const LeverageModel& child, double unit);

bool passes_leave_one_out(const DecreaseSums& sums, double n_tried, double split_margin);

}  // namespace fctree::oblique
