"""The simulated regressions of the boosting benchmarks, with the noise level of the large one."""

import numpy as np

NOISE = 1.0


def simulate_boosting(n_samples, n_features, seed, dtype=np.float64):
    """Normal features, a sum of waves, products, a switch and a kink in eight of them.

    f(x) = 2 sin(2 x1) + x2 x3 + |x4| + 1[x5 > 0] x6 + x7^2 / 2 + x8, noise N(0, 1): no program's
    error can fall below 1. The other features mean nothing.

    Returns
    -------
    (X (n, d) of the type, C order; y (n,) float64): the same rows in either type
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    x = X[:, :8]
    f = (2 * np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + np.abs(x[:, 3])
         + (x[:, 4] > 0) * x[:, 5] + x[:, 6] ** 2 / 2 + x[:, 7])
    return X.astype(dtype, copy=False), f + NOISE * rng.standard_normal(n_samples)


def draw(n, d, seed=0):
    """Normal features, and a target of six of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.maximum(X[:, 3:6].sum(axis=1), 0.0)
    return X, y + 0.3 * rng.normal(size=n)
