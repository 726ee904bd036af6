// Batch normalisation of the input (Hazimeh et al. 2020, section 2): with the batch's own mean and
// variance in training, with running ones afterwards. All in double precision, from the original
// samples, so that a column like 1e6 +- 1 loses nothing on its way to float32.
#pragma once

#include "core/types.hpp"

namespace fctree::soft {

// x -> (x - mean) * factor, or x where mean is null; then a feature that is always 1.
struct Standardization {
  const double* mean;
  const double* factor;
  bool intercept;
};

// Of features: 1 / sqrt(variance), and 0 for one that is constant up to rounding, which then has no
// effect.
void inverse_deviations(const double* mean, const double* variance, index_t n_features,
                        double* factor);

// out (n, n_features + intercept) from samples (n, n_features).
template <class T>
void standardize(const double* x, index_t n, index_t n_features, const Standardization& rule,
                 T* out);

// Weighted mean and variance of each feature of samples (n, n_features); weight may be null. Two passes.
void batch_moments(const double* x, const double* weight, index_t n, index_t n_features,
                   double* mean, double* variance);

}  // namespace fctree::soft
