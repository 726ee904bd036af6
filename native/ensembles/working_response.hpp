// The weighted least-squares problem that stands for a round of boosting.
//
// A Newton step minimises sum w (h f^2 / 2 + g f): the same as fitting the targets -g / h with
// the weights w h. Of several outputs the largest h of a sample stands for all (a bound of the
// diagonal hessian), since a tree has one weight a sample; the gradients stay exact. Where a
// loss has no curvature (absolute error, quantile, Huber) the parabola through the residual r
// with the loss's slope g at it is taken, h = |g / r|: iteratively reweighted least squares.
#pragma once

#include <vector>

#include "core/loss/loss.hpp"
#include "core/parallel.hpp"

namespace fctree::ensembles {

struct WorkingResponse {
  std::vector<double> target;  // (n_samples, n_outputs), row-major
  std::vector<double> weight;  // (n_samples,), 0 for rows that are left out
};

// in_bag (n_samples,) or null for all rows.
void find_working_response(const Loss& loss, const ScoredSamples& samples,
                           const Derivatives& derivatives, const std::uint8_t* in_bag,
                           WorkingResponse& out, const Execution& execution);

}  // namespace fctree::ensembles
