// Moments and ridge directions of all rows, as flat arrays: what the tests compare with NumPy.
#pragma once

#include <numeric>

#include "ridge/moments.hpp"
#include "ridge/ridge.hpp"

namespace fctree::bindings {

using namespace ridge;

struct NodeMoments {
  double weight;
  std::vector<double> mean, diagonal, scatter, cross;
};

struct NodeRidge {
  std::vector<double> coef, intercept;
};

template <class M>
std::vector<double> by_rows(const M& matrix) {
  std::vector<double> values(matrix.size());
  RowMatrixSpan(values.data(), matrix.rows(), matrix.cols()) = matrix;
  return values;
}

inline std::vector<std::int32_t> all_rows(const TrainingData& data) {
  std::vector<std::int32_t> rows(data.n_samples);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

inline NodeMoments node_moments(const TrainingData& data, const Execution& execution) {
  const std::vector<std::int32_t> rows = all_rows(data);
  const Vector origin = Vector::Zero(data.n_features + data.n_outputs);
  const Moments found = sum_moments(data, {{rows.data(), data.n_samples}}, origin, execution)[0];
  return {found.weight, by_rows(found.mean), by_rows(found.diagonal),
          by_rows(Matrix(found.scatter.selfadjointView<Eigen::Upper>())), by_rows(found.cross)};
}

// `ancestors` (n_ancestors, d): directions that the penalty spares.
inline NodeRidge node_ridge(const TrainingData& data, const double* ancestors, index_t n_ancestors,
                            const RidgeOptions& options, bool dual) {
  const std::vector<std::int32_t> rows = all_rows(data);
  const NodeRows node = {rows.data(), data.n_samples};
  const Vector origin = heaviest_sample(data, node);
  const Matrix directions = RowMatrixView(ancestors, n_ancestors, data.n_features).transpose();
  const Moments moments = sum_moments(data, {node}, origin, {})[0];
  const RidgeFit fit = dual ? fit_ridge_dual(data, node, moments, directions, origin, options)
                            : fit_ridge(moments, directions, origin, options);
  return {by_rows(fit.coef.transpose()), by_rows(fit.intercept)};
}

}  // namespace fctree::bindings
