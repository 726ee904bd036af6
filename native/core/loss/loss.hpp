// Losses of models with raw scores: value, derivatives, starting point, and leaf values.
//
// A model gives each sample n_outputs raw scores F; y and F are kept output by output,
// arrays of (n_outputs, n_samples). The gradient is d loss / d F, the hessian its second derivative
// (or for some losses a bound of it). The losses, one file each or per small group, are listed in
// registry.cpp.
#pragma once

#include <limits>
#include <vector>

#include "core/types.hpp"

namespace fctree {

struct Execution;

// How a leaf's value follows from its samples: a Newton step, a quantile of the residuals y - F,
// or their median plus the mean of the clipped rest (Friedman, 2001).
enum class LeafRule { newton, quantile, clipped_mean };

// Samples with their scores. y is (n_targets, n_samples), raw (n_outputs, n_samples);
// weight (n_samples,) or null; unit (n_outputs,) what each output is measured in, or null for ones.
struct ScoredSamples {
  const double* y;
  const double* raw;
  const double* weight;
  index_t n_samples;
  index_t n_outputs;
  const double* unit = nullptr;

  double unit_of(index_t k) const { return unit == nullptr ? 1.0 : unit[k]; }
  double weight_of(index_t i) const { return weight == nullptr ? 1.0 : weight[i]; }
};

// Output arrays of the derivatives, of y and F in the outputs' units: (n_outputs, n_samples) each; hessian null
// where it is 1.
struct Derivatives {
  double* gradient;
  double* hessian;
};

// A sum of losses as reported, of targets as they came, and as they decide: of y and F in the outputs' units, and
// divided by the dispersion where derivatives are.
struct LossValue {
  double reported = 0.0;
  double scaled = 0.0;
  LossValue& operator+=(const LossValue& other) {
    reported += other.reported;
    scaled += other.scaled;
    return *this;
  }
};

class Loss {
 public:
  virtual ~Loss() = default;

  virtual LeafRule leaf_rule() const { return LeafRule::newton; }
  // Rows that a leaf of a constant needs.
  virtual index_t fewest_in_leaf(const ScoredSamples&, const Execution&) const { return 1; }
  // Whether the hessian is more than the constant 1.
  virtual bool has_hessian() const { return false; }
  // Whether evaluate() gives the loss, and not its derivatives alone.
  virtual bool has_value() const { return true; }
  // Largest step of a score: that of a log-odds or a logarithm of a mean, since a Newton step is valid
  // only near where it was computed.
  virtual double largest_step() const {
    return has_hessian() ? 4.0 : std::numeric_limits<double>::infinity();
  }
  // The order of the quantile, where leaf_rule() needs it, and the bound of the residuals.
  virtual double quantile_order() const { return 0.5; }
  virtual double residual_bound() const { return 0.0; }
  // The weight of samples that the value of a leaf needs where it is their median: so much that two or three
  // wild targets are a minority.
  virtual double least_weight() const { return 0.0; }
  // How long steps should be, relative to those of other losses: the noise of a quantile's steps is as large, and
  // what they have to reach is less, the further it is from the median.
  virtual double step_length() const { return 1.0; }
  // Losses are reported multiplied by this: the squared error, whose half has the derivatives.
  virtual double reported_factor() const { return 1.0; }
  // How the loss scales with the unit of targets: loss(u y, u F) = unit_of_loss(u) loss(y, F). 0 if the unit is fixed
  // (counts, classes).
  virtual double unit_of_loss(double /*unit*/) const { return 0.0; }

  // The factor of penalties of Newton steps: the curvature at the start, of equally frequent classes, in that of
  // two classes. 1 at most.
  virtual double penalty_factor() const { return 1.0; }
  // A leaf's Newton step, limited where it would overshoot the minimum of the leaf's loss; sums of
  // w g and w h over the leaf's samples.
  virtual double limited(double step, double /*gradient*/, double /*hessian*/) const {
    return step;
  }

  // The constant scores with the least loss, (n_outputs,); unless a loss says otherwise they follow
  // from the means of the targets, in all places (core/collective.hpp).
  virtual void baseline(const ScoredSamples& samples, const Execution& execution, double* out) const;
  // The same from those means (of the classes' indicators, with several); only where leaf_rule()
  // is newton.
  virtual void baseline_of_means(const double* means, index_t n_outputs, double* out) const;
  // Losses with a log link, whose models are balanced: the predictions of the training samples, in all places,
  // have the sum of the targets. The next three are for these alone.
  virtual bool balances() const { return false; }
  // They divide their derivatives by the dispersion of these samples, in all places: the mean of g² / h by h,
  // which is 1 of counts (Pearson's). So penalties are as strong in any unit of the targets, and stronger where
  // few large ones among zeros say little.
  virtual void find_dispersion(const ScoredSamples&, const Execution&) {}
  // The shifts of each output's scores that balance them, once the dispersion was found.
  virtual std::vector<double> find_shifts(const ScoredSamples&, const Execution&) { return {}; }
  // Derivatives from here on are those at scores less a constant, the best one: no tree is spent on undoing shifts.
  virtual void find_centres(const ScoredSamples&, const Execution&) {}
  // False where it is known that prepare() does nothing: a loop less.
  virtual bool prepares() const { return true; }
  // Called before each round with the training samples.
  virtual void prepare(const ScoredSamples&) {}
  // The sum over samples begin .. end of weight * reported loss; writes the (unweighted)
  // derivatives of these samples if `out` is not null. O((end - begin) n_outputs).
  virtual LossValue evaluate(const ScoredSamples& samples, index_t begin, index_t end,
                             const Derivatives* out) const = 0;
};

// The units of targets: their deviations, the same in all places; none for losses whose targets have a unit of
// their own. Several outputs are trained in their units. A single one is not, but what it is compared with goes
// by its unit.
struct TargetUnits {
  std::vector<double> deviations;  // (n_outputs), or empty

  const double* all() const { return deviations.empty() ? nullptr : deviations.data(); }
  const double* of_several() const { return deviations.size() > 1 ? deviations.data() : nullptr; }
  // 0 of several outputs, or of none.
  double of_single() const { return deviations.size() == 1 ? deviations[0] : 0.0; }
  // The divisor of losses in early stopping: 1, or where less the unit of a single output's loss, so that small
  // targets do not look like the end of training.
  double of_stopping(const Loss& loss) const;
};
TargetUnits find_units(const Loss& loss, const ScoredSamples& samples, const Execution& execution);
// The constant scores (n_outputs) that a model starts with: those of the model that it continues or, where these
// are null, the best ones. Where samples bring scores of their own, `initial` (n_outputs, n_samples) or null,
// constants are added to them: those that balance, so that the level of scores does not matter, and 0 of other
// losses. Tells a loss that needs it the dispersion at the start.
std::vector<double> find_baseline(const double* continued, const double* initial, ScoredSamples samples,
                                  const Execution& execution, Loss& loss);
// The deviations of targets (n_outputs, n_samples); 1 for a constant.
std::vector<double> find_deviations(const ScoredSamples& samples, const Execution& execution);

}  // namespace fctree
