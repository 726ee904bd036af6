"""Simulated designs for intervals: noise that changes over the features, and heavy tails."""

import numpy as np


def _features_and_mean(n, rng):
    X = rng.uniform(-1, 1, (n, 8))
    return X, 2.0 * np.maximum(X[:, 0] + X[:, 1], 0.0) + np.sin(3.0 * X[:, 2])


def heteroscedastic(n, rng):
    """Normal noise whose deviation grows by a factor of 16 along a feature."""
    X, mean = _features_and_mean(n, rng)
    return X, mean + 0.5 * 4.0 ** X[:, 3] * rng.standard_normal(n)


def heteroscedastic_steps(n, rng):
    """Normal noise three times as large in a quarter of the space."""
    X, mean = _features_and_mean(n, rng)
    inside = (X[:, 3] > 0.0) & (X[:, 4] > 0.0)
    return X, mean + 0.3 * (1.0 + 2.0 * inside) * rng.standard_normal(n)


def heavy_tails(n, rng):
    """Student's t with 2 degrees of freedom: no variance."""
    X, mean = _features_and_mean(n, rng)
    return X, mean + 0.3 * rng.standard_t(2, n)


def skewed(n, rng):
    """Exponential noise whose scale depends on a feature."""
    X, mean = _features_and_mean(n, rng)
    return X, mean + 0.5 * (1.2 + X[:, 3]) * rng.exponential(size=n)


DESIGNS = {
    "heteroscedastic": heteroscedastic,
    "heteroscedastic, steps": heteroscedastic_steps,
    "heavy tails": heavy_tails,
    "skewed": skewed,
}
