// Losses of boosted models: value, derivatives, starting point, and what a leaf answers.
//
// A model gives each sample n_outputs raw scores F; y and F are kept output by output,
// arrays of (n_outputs, n_samples). Gradients are minus the derivative of a sample's loss by
// its score (the residual, for the squared error); hessians the second derivative.
//
//   squared_error   (y - F)^2           gradient y - F (of half of it), hessian 1
//   absolute_error  |y - F|             sign(y - F); leaves are medians
//   quantile        pinball loss        q - 1[y < F]; leaves are quantiles
//   huber           Huber's, its delta a quantile of |y - F|; leaves are Friedman's (2001)
//                   median plus the mean of the clipped rest
//   poisson         half the deviance   y - exp F, hessian exp F
//   gamma           half the deviance   y exp(-F) - 1, hessian y exp(-F)
//                   (both: a leaf's step goes no further than the leaf's own minimum)
//   log_loss        binary (one output, y in {0, 1}) or softmax (y the class)
#pragma once

#include <memory>
#include <stdexcept>

#include "core/types.hpp"

namespace fctree {

enum class LossKind {
  squared_error = 0,
  absolute_error,
  huber,
  quantile,
  poisson,
  gamma,
  binary_log_loss,
  multiclass_log_loss
};

// How a leaf's value follows from its samples.
enum class LeafRule { newton, quantile, clipped_mean };

// Samples with their scores. y is (n_targets, n_samples), raw (n_outputs, n_samples);
// weight (n_samples,) or null.
struct ScoredSamples {
  const double* y;
  const double* raw;
  const double* weight;
  index_t n_samples;
  index_t n_outputs;

  double weight_of(index_t i) const { return weight == nullptr ? 1.0 : weight[i]; }
};

// Where a loss writes derivatives: (n_outputs, n_samples) each; hessian null where it is 1.
struct Derivatives {
  double* gradient;
  double* hessian;
};

class Loss {
 public:
  virtual ~Loss() = default;

  virtual LeafRule leaf_rule() const { return LeafRule::newton; }
  virtual bool has_hessian() const { return false; }
  // The order of the quantile, where leaf_rule() needs it, and the bound of the residuals.
  virtual double quantile_order() const { return 0.5; }
  virtual double residual_bound() const { return 0.0; }

  // A leaf's Newton step, held back where it would leap over the leaf's own minimum; sums of
  // w g and w h over the leaf's samples.
  virtual double limited(double step, double /*gradient*/, double /*hessian*/) const {
    return step;
  }

  // The constant scores with the least loss, (n_outputs,).
  virtual void baseline(const ScoredSamples& samples, double* out) const = 0;
  // The same from the means of the targets (of the classes' indicators, with several); only where
  // leaf_rule() is newton.
  virtual void baseline_of_means(const double* /*means*/, index_t, double* /*out*/) const {
    throw std::logic_error("the starting score of this loss is not a matter of means");
  }
  // Called before each round with the training samples.
  virtual void prepare(const ScoredSamples&) {}
  // The sum over samples begin .. end of weight * loss; writes the (unweighted) derivatives
  // of these samples if `out` is not null. O((end - begin) n_outputs).
  virtual double evaluate(const ScoredSamples& samples, index_t begin, index_t end,
                          const Derivatives* out) const = 0;
};

std::unique_ptr<Loss> make_loss(LossKind kind, double quantile);

// The quantile of order q of values with these weights (null for equal ones): the least v
// with F(v) >= q, the midpoint to the next where F(v) = q. Reorders both arrays. O(n) without
// weights, O(n log n) with.
double weighted_quantile(double* values, double* weights, index_t n, double q);

// What a leaf with these residuals y - F and weights (null for equal ones) answers under a loss
// whose leaf_rule() is not newton: their quantile, or Friedman's clipped mean. Reorders both.
double order_statistic(const Loss& loss, double* residuals, double* weights, index_t n);

}  // namespace fctree
