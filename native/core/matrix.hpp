// Matrices and vectors of Eigen's: row-major as NumPy hands them over, column-major for the linear
// algebra of the core. Views never own memory.
//
// Reading Eigen costs a compiler more than a second, so core/types.hpp does without.
#pragma once

#include <Eigen/Core>

#include "core/types.hpp"

namespace fctree {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = Eigen::MatrixXd;  // column-major
using Vector = Eigen::VectorXd;

using RowMatrixView = Eigen::Map<const RowMatrix>;
using VectorView = Eigen::Map<const Vector>;

}  // namespace fctree
