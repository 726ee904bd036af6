"""Means and standard deviations of features."""

import numpy as np

_LEAST_SPREAD = 1e-12  # of the magnitude, as in native/core/spread.hpp: below it is what rounding leaves of a constant


def feature_scales(X, share):
    """Means and standard deviations (n_features,) of samples that have these shares of the weight; deviations of
    constant columns are 0."""
    mean = share @ X
    spread = np.sqrt(share @ (X - mean) ** 2)
    magnitude = np.maximum(X.max(axis=0), -X.min(axis=0))
    return mean, np.where(spread > _LEAST_SPREAD * magnitude, spread, 0.0)
