"""Small boosters of both families, for tests that run through all of them."""

import numpy as np
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)

REGRESSORS = [SymmetricBoostingRegressor, CurvatureBoostingRegressor]
CLASSIFIERS = [SymmetricBoostingClassifier, CurvatureBoostingClassifier]
BOOSTERS = REGRESSORS + CLASSIFIERS
SMALL = {"max_iter": 8, "max_depth": 2, "learning_rate": 0.3, "random_state": 0}


def table(kind, n=150, seed=0, n_classes=2):
    """Data for a booster: smooth targets, or classes named "a", "b", .."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.standard_normal(n)
    if kind in REGRESSORS:
        return X, y
    return X, np.array(list("abcd"))[np.digitize(y, np.linspace(0, 2, n_classes + 1)[1:-1])]


def bytes_of(model):
    """All arrays of a booster's trees, as bytes, by name."""
    return {name: value.tobytes() for name, value in vars(model.trees_).items()
            if isinstance(value, np.ndarray)}
