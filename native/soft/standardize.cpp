#include "soft/standardize.hpp"

#include <cmath>

#include "core/spread.hpp"

namespace fctree::soft {

void inverse_deviations(const double* mean, const double* variance, index_t n_features,
                        double* factor) {
  for (index_t j = 0; j < n_features; ++j) {
    const double spread = std::sqrt(variance[j]);
    factor[j] = is_varying(spread, std::abs(mean[j])) ? 1.0 / spread : 0.0;
  }
}

template <class T>
void standardize(const double* x, index_t n, index_t n_features, const Standardization& rule,
                 T* out) {
  const index_t width = n_features + (rule.intercept ? 1 : 0);
  for (index_t i = 0; i < n; ++i) {
    const double* row = x + i * n_features;
    T* to = out + i * width;
    if (rule.mean == nullptr)
      for (index_t j = 0; j < n_features; ++j) to[j] = static_cast<T>(row[j]);
    else
      for (index_t j = 0; j < n_features; ++j)
        to[j] = static_cast<T>((row[j] - rule.mean[j]) * rule.factor[j]);
    if (rule.intercept) to[n_features] = T(1);
  }
}

void batch_moments(const double* x, const double* weight, index_t n, index_t n_features,
                   double* mean, double* variance) {
  // About the first sample: a constant column then has exactly no variance.
  double total = 0.0;
  for (index_t j = 0; j < n_features; ++j) mean[j] = variance[j] = 0.0;
  for (index_t i = 0; i < n; ++i) {
    const double w = weight == nullptr ? 1.0 : weight[i];
    total += w;
    for (index_t j = 0; j < n_features; ++j) mean[j] += w * (x[i * n_features + j] - x[j]);
  }
  for (index_t j = 0; j < n_features; ++j) mean[j] /= total;
  for (index_t i = 0; i < n; ++i) {
    const double w = weight == nullptr ? 1.0 : weight[i];
    for (index_t j = 0; j < n_features; ++j) {
      const double from_mean = x[i * n_features + j] - x[j] - mean[j];
      variance[j] += w * from_mean * from_mean;
    }
  }
  for (index_t j = 0; j < n_features; ++j) {
    variance[j] /= total;
    mean[j] += x[j];
  }
}

template void standardize(const double*, index_t, index_t, const Standardization&, float*);
template void standardize(const double*, index_t, index_t, const Standardization&, double*);

}  // namespace fctree::soft
