// Curvature directions: those along which the target bends most, beyond its linear part.
//
// With r the residuals of the node's ridge fit and C the covariance of its features, they
// are the leading eigenvectors (by size of eigenvalue) of the residual-based Hessian
//     C^{-1/2} mean(r (x - mean)(x - mean)') C^{-1/2},
// taken back by C^{-1/2}: principal Hessian directions (Li 1992, "On principal Hessian
// directions for data visualization and dimension reduction"; Cook 1998, "Principal Hessian
// directions revisited"). A linear fit exhausts the ridge direction, but a ridge function g(a'x)
// still bends along a.
#pragma once

#include <vector>

#include "core/matrix.hpp"
#include "ridge/moments.hpp"

namespace fctree::oblique {

using namespace ridge;

// The eigenproblem hessian v = lambda covariance v, one Hessian per output.
struct CurvatureProblem {
  Matrix covariance;             // (d, d), made invertible
  std::vector<Matrix> hessians;  // mean(r_k (x - mean)(x - mean)'), (d, d)
};

// residual_scatter has one sum w r_k (x - mean)(x - mean)' per output (d, d), upper triangle.
CurvatureProblem curvature_problem(const Moments& moments,
                                   const std::vector<Matrix>& residual_scatter);

// Up to n_directions columns (d, .) of length one, the strongest first; none if the features do
// not vary. With several outputs the directions are those of the sum of squares
// of the outputs' Hessians. O(d^3), the constant is that of a symmetric eigenproblem.
Matrix curvature_directions(const CurvatureProblem& problem, index_t n_directions);

}  // namespace fctree::oblique
