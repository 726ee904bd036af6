// The ridge penalty chosen by leave-one-out (alpha = "loo").
//
// One eigendecomposition of the root's scatter, or of its samples' inner products where there are
// no more of them than features, gives the closed-form leave-one-out error of its ridge fit for
// every penalty of a grid: O(n d^2 + n d (number of penalties)). Left out is one unit of weight, or
// a sample that weighs less.
#pragma once

#include "core/parallel.hpp"
#include "ridge/moments.hpp"

namespace fctree::ridge {

constexpr int kGridSize = 15;
using GridErrors = Eigen::Array<double, kGridSize, 1>;

// The ridge fit in the coordinates of the scatter's eigenvectors.
struct SpectralFit {
  Matrix vectors;  // (d, r)
  Vector values;   // (r)
  Matrix cross;    // (r, K)
  Vector mean;     // (d + K), raw; zero without an intercept
  double base;     // leverage of a sample at the mean
};

// From full moments. O(d^3).
SpectralFit spectral_fit(const Moments& moments, const Vector& origin, bool fit_intercept);

// Sum over some samples of the squared leave-one-out residuals, one entry a penalty.
GridErrors sum_grid_errors(const TrainingData& data, const NodeRows& samples,
                           const SpectralFit& fit);

double best_alpha(const GridErrors& errors);

// The grid: half decades from 1e-4 to 1e3. Of penalties with equal error the largest.
double choose_alpha(const TrainingData& data, const NodeRows& node, const Moments& moments,
                    const Vector& origin, bool fit_intercept, const Execution& execution);

}  // namespace fctree::ridge
