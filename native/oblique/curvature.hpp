// Curvature directions: along which the target bends most, once its linear part is gone.
//
// With r the residuals of the node's ridge fit and C the covariance of its features, they
// are the leading eigenvectors (by size of eigenvalue) of the residual-based Hessian
//     C^{-1/2} mean(r (x - mean)(x - mean)') C^{-1/2},
// taken back by C^{-1/2}: principal Hessian directions (Li 1992, "On principal Hessian
// directions for data visualization and dimension reduction"; Cook 1998, "Principal Hessian
// directions revisited"). Where a linear fit has used up the ridge direction, a ridge
// function g(a'x) still bends along a.
#pragma once

#include <vector>

#include "core/types.hpp"
#include "oblique/moments.hpp"

namespace fctree {

// Up to n_directions columns (d, .), the strongest first. residual_scatter has one
// sum w r_k (x - mean)(x - mean)' an output (d, d), upper triangle. With several outputs
// the directions are those of the sum of squares of the outputs' Hessians.
// O(d^3), the constant is that of a symmetric eigenproblem.
Matrix curvature_directions(const Moments& moments, const std::vector<Matrix>& residual_scatter,
                            index_t n_directions);

}  // namespace fctree
