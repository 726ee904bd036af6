// Moments and ridge directions of all rows: native/ridge on NumPy arrays, through Eigen.
#pragma once

#include <pybind11/eigen.h>
#include <pybind11/pybind11.h>

#include <numeric>

#include "ridge/moments.hpp"
#include "ridge/ridge.hpp"

namespace fctree::bindings {

namespace py = pybind11;

using namespace ridge;

using MatrixIn = Eigen::Ref<const RowMatrix>;
using VectorIn = Eigen::Ref<const Vector>;

// All rows of X (n, d) and y (n, K) as one node.
struct WholeNode {
  WholeNode(const MatrixIn& x, const MatrixIn& y, const VectorIn& weight)
      : data{x.data(), y.data(), weight.data(), x.rows(), x.cols(), y.cols()}, rows(x.rows()) {
    if (x.rows() == 0 || y.rows() != x.rows() || weight.size() != x.rows())
      throw std::invalid_argument("X, y and weight need the same number of rows, at least one");
    std::iota(rows.begin(), rows.end(), 0);
  }
  NodeRows node() const { return {rows.data(), static_cast<index_t>(rows.size())}; }
  TrainingData data;
  std::vector<std::int32_t> rows;
};

py::dict node_moments(const MatrixIn& x, const MatrixIn& y, const VectorIn& weight,
                      int n_threads) {
  const WholeNode whole(x, y, weight);
  const Vector origin = Vector::Zero(x.cols() + y.cols());
  const Moments moments = sum_moments(whole.data, {whole.node()}, origin, {n_threads, nullptr})[0];
  py::dict result;
  result["weight"] = moments.weight;
  result["mean"] = moments.mean;
  result["diagonal"] = moments.diagonal;
  result["scatter"] = Matrix(moments.scatter.selfadjointView<Eigen::Upper>());
  result["cross"] = moments.cross;
  return result;
}

py::dict node_ridge(const MatrixIn& x, const MatrixIn& y, const VectorIn& weight,
                    const MatrixIn& ancestors, double alpha, bool fit_intercept, bool dual) {
  const WholeNode whole(x, y, weight);
  if (ancestors.cols() != x.cols())
    throw std::invalid_argument("ancestors need one column a feature of X");
  const Vector origin = heaviest_sample(whole.data, whole.node());
  const RidgeOptions options = {alpha, fit_intercept};
  const Matrix directions = ancestors.transpose();
  const Moments moments = sum_moments(whole.data, {whole.node()}, origin, {})[0];
  const RidgeFit fit = dual ? fit_ridge_dual(whole.data, whole.node(), moments, directions,
                                             origin, options)
                            : fit_ridge(moments, directions, origin, options);
  py::dict result;
  result["coef"] = RowMatrix(fit.coef.transpose());
  result["intercept"] = fit.intercept;
  result["reduction"] = fit.reduction;
  return result;
}

inline void define_ridge_functions(py::module_& module) {
  module.def("node_moments", &node_moments, py::arg("X").noconvert(),
             py::arg("y").noconvert(), py::arg("weight").noconvert(), py::arg("n_threads") = 1,
             "Weighted mean, scatter (d, d), cross (d, K) and diagonal (d + K) of all rows.");
  module.def("node_ridge", &node_ridge, py::arg("X").noconvert(),
             py::arg("y").noconvert(), py::arg("weight").noconvert(),
             py::arg("ancestors").noconvert(), py::kw_only(), py::arg("alpha"),
             py::arg("fit_intercept") = true, py::arg("dual") = false,
             "Ridge directions (K, d) of all rows given ancestors' directions (k, d).");
}

}  // namespace fctree::bindings
