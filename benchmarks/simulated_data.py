"""The two simulations of the FC-ODT paper, with the noiseless truth.

x is uniform on [-1, 1]^d, d >= 10, and with g = ReLU (sim1) or exp (sim2)
f(x) = g(x1) + g((x2+x3)/2) + g((x4+x5+x6)/3) + g((x7+..+x10)/4) + g((x1+x3+x5+x7+x9)/5).
They are the same as `fctree.datasets.make_ridge_relu` and `make_ridge_exp`; here they let the
peers be measured where fctree is not installed.
"""

import numpy as np

SIMULATIONS = {"sim1": lambda t: np.maximum(t, 0.0), "sim2": np.exp}
TERMS = ((0,), (1, 2), (3, 4, 5), (6, 7, 8, 9), (0, 2, 4, 6, 8))


def simulate(name, n_samples, n_features, seed, noise=0.1):
    """Return X (n, d), y = f + noise (n,) and f (n,)."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n_samples, n_features))
    g = SIMULATIONS[name]
    f = np.zeros(n_samples)
    for columns in TERMS:
        f += g(X[:, columns].mean(axis=1))
    return X, f + noise * rng.standard_normal(n_samples), f
