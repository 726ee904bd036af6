// The ridge direction of a node (FC-ODT, step 2) in the d raw features.
//
// With the ancestors' directions W = [w_1 .. w_k] concatenated as k more features, the
// node's effective direction is
//     w = argmin ||y_c - X_c w||^2 + alpha w' (I + W W')^{-1} w,
// so d x d moments are enough. Nodes with fewer samples than features use the dual,
//     w = Q X_c' (X_c Q X_c' + alpha I)^{-1} y_c,   Q = I + W W'.
// A singular system (alpha = 0 with collinear columns) has the solution that the ridge
// converges to as alpha -> 0: the least-squares solution with the smallest w' Q^{-1} w.
#pragma once

#include "core/matrix.hpp"
#include "ridge/moments.hpp"

namespace fctree::ridge {

struct RidgeOptions {
  double alpha;
  bool fit_intercept;
  double mean_weight = 1.0;  // of a sample: the unit in which weights are numbers of samples
};

struct RidgeFit {
  Matrix coef;        // (d, K)
  Vector intercept;   // (K)
  Vector reduction;   // (K): by how much the fit lowers the squared error of the mean, or
                      // without an intercept that of zero
};

// (I + W W')^{-1}, the shape of the penalty; or its rows and columns of some features, `rows` being
// those of W. O(d^2 k).
Matrix penalty_matrix(const Matrix& ancestors);
Matrix penalty_matrix(const Matrix& ancestors, const Matrix& rows);

// The node's samples and targets less their means (less nothing without an intercept), each
// row times the root of its weight.
struct CentredRows {
  Matrix x;  // (n, d)
  Matrix y;  // (n, K)
};
CentredRows centred_rows(const TrainingData& data, const NodeRows& node, const Moments& moments,
                         const Vector& origin, bool fit_intercept);

// The normal equations of a ridge without their penalty: sums about the mean, or about zero
// without an intercept.
struct NormalEquations {
  Matrix scatter;  // (d, d)
  Matrix cross;    // (d, K)
};
NormalEquations normal_equations(const Moments& moments, const Vector& origin,
                                 bool fit_intercept);

// Solves (scatter + alpha * penalty) w = rhs, (d, .), with sums known to the relative
// precision `noise`. O(d^3 / 3).
Matrix solve_ridge(const Matrix& scatter, const Matrix& rhs, const Matrix& penalty, double alpha,
                   double noise);

// The constants that make models (d, K) pass through the node's means; 0 without an intercept.
Vector intercept_of(const Matrix& coef, const Moments& moments, const Vector& origin,
                    bool fit_intercept);

// From full moments. `ancestors` is (d, k), `origin` (d + K) what means are relative to.
// O(d^3 / 3).
RidgeFit fit_ridge(const Moments& moments, const Matrix& ancestors, const Vector& origin,
                   const RidgeOptions& options);

// From the samples; moments need means only. O(n^2 d), for n < d.
RidgeFit fit_ridge_dual(const TrainingData& data, const NodeRows& node, const Moments& moments,
                        const Matrix& ancestors, const Vector& origin,
                        const RidgeOptions& options);

}  // namespace fctree::ridge
