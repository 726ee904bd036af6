// The weighted least-squares problem of a round of boosting.
//
// A Newton step minimises sum w (h f^2 / 2 + g f): the same as fitting the targets -g / h with
// the weights w h. With several outputs the largest h of a sample is used for all (a bound of the
// diagonal hessian), since a tree has one weight per sample; the gradients stay exact. For losses
// without curvature (absolute error, quantile, Huber) the parabola with the loss's slope g at the
// residual r is used, h = |g / r|: iteratively reweighted least squares. Their targets are no further than some
// times the residuals' scale, so that splits are not spent on wild ones.
#pragma once

#include <vector>

#include "core/loss/loss.hpp"
#include "core/parallel.hpp"

namespace fctree::ensembles {

struct WorkingResponse {
  std::vector<double> target;  // (n_samples, n_outputs), row-major
  std::vector<double> weight;  // (n_samples,), 0 for rows left out
  std::vector<double> farthest;  // (n_outputs,), that a target may be, for losses without curvature
};

// in_bag (n_samples,) or null for all rows.
void find_working_response(const Loss& loss, const ScoredSamples& samples,
                           const Derivatives& derivatives, const std::uint8_t* in_bag,
                           WorkingResponse& out, const Execution& execution);

}  // namespace fctree::ensembles
