// Quantiles of samples, and leaf values that are order statistics of residuals.
#pragma once

#include <vector>

#include "core/loss/loss.hpp"

namespace fctree {

// The quantile of order q of some values of the samples, and those of their targets, (n_outputs,): the
// smallest v with F(v) >= q, the midpoint to the next where F(v) = q. O(n) without weights, O(n log n) with.
double quantile_of(const ScoredSamples& samples, std::vector<double> values, double q);
void target_quantiles(const ScoredSamples& samples, double q, double* out);

// How large the residuals of an output are, in its unit: the upper quartile of their sizes, which a few wild
// targets leave as it is, and at least a hundredth of their mean, where most residuals are 0 or nearly.
double residual_scale(const ScoredSamples& samples, index_t output);

// The value of a leaf with these residuals y - F and weights (null for equal ones) under a loss
// whose leaf_rule() is not newton: their quantile, or Friedman's clipped mean. May reorder the residuals.
double order_statistic(const Loss& loss, double* residuals, const double* weights, index_t n);

}  // namespace fctree
