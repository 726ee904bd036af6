// The array types that cross function borders in the core: row-major matrices as NumPy
// hands them over, vectors, and the index type. Views never own memory.
#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace fctree {

using index_t = std::int64_t;

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = Eigen::MatrixXd;  // column-major, for the linear algebra inside the core
using Vector = Eigen::VectorXd;

using RowMatrixView = Eigen::Map<const RowMatrix>;
using RowMatrixSpan = Eigen::Map<RowMatrix>;
using VectorView = Eigen::Map<const Vector>;

}  // namespace fctree
