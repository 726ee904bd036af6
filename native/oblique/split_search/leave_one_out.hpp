// The leave-one-out test of splits, by the models that they were chosen for.
//
// The winner of many candidates and cuts looks better than it is. So a split is accepted by
// leave-one-out: with D_i the decrease of sample i's squared leave-one-out residual from the
// node's model to the child's,
//     sum D_i > split_margin * sqrt(2 log T) * sqrt(n) * std(D),
// T the number of cuts that the split was chosen from: sqrt(2 log T) is about what the largest of T standard
// normal variables reaches by chance. Leave-one-out residuals are closed-form,
// r_i / (1 - h_i), h_i the leverage. O(n d^2) per node.
#pragma once

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

// Squared leave-one-out residuals of some samples, summed over outputs, (size).
Vector leave_one_out_losses(const TrainingData& data, const NodeRows& samples,
                            const LeverageModel& model);

// Weighted sums over samples of the decreases D, in units of some loss, and of their squares.
struct DecreaseSums {
  double weight = 0.0;
  double total = 0.0;
  double squares = 0.0;

  void add(const DecreaseSums& other) {
    weight += other.weight;
    total += other.total;
    squares += other.squares;
  }
};

// `unit` is a typical loss: squares of losses in y's own unit could overflow.
DecreaseSums sum_decreases(const TrainingData& data, const NodeRows& samples,
                           const LeverageModel& node, const LeverageModel& child, double unit);

bool passes_leave_one_out(const DecreaseSums& sums, double n_tried, double split_margin);

}  // namespace fctree::oblique
