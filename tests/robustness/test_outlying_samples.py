"""A few samples far from all others, or many with the same target, must not decide about the rest."""

import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss, r2_score

from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    SymmetricBoostingRegressor,
)


def truth(X):
    return np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]


def bent_surface(outlier, n=2000, seed=0):
    """Samples of which one lies at ``outlier`` in every feature, and others without noise."""
    rng = np.random.default_rng(seed)
    X, T = rng.standard_normal((n, 5)), rng.standard_normal((n, 5))
    y = truth(X) + 0.3 * rng.standard_normal(n)
    X[5] = outlier
    return X, y, T, truth(T)


@pytest.mark.parametrize("outlier", [20.0, 100.0])
@pytest.mark.parametrize("model", [
    CurvatureTreeRegressor(max_depth=6),
    CurvatureTreeRegressor(max_depth=6, split_margin=0.0),
    CurvatureForestRegressor(n_estimators=20, random_state=0),
    CurvatureBoostingRegressor(max_iter=50, random_state=0),
], ids=["tree", "tree without margin", "forest", "boosting"])
def test_one_row_far_away(model, outlier):
    X, y, T, expected = bent_surface(outlier)
    assert r2_score(expected, model.fit(X, y).predict(T)) > 0.8


def test_one_row_far_away_and_classes():
    X, y, T, expected = bent_surface(100.0)
    model = CurvatureTreeClassifier(max_depth=6).fit(X, y > 0)
    assert np.mean(model.predict(T) == (expected > 0)) > 0.85


def capped(seed, n=6000):
    """8 % of the targets are 2, most of them where the last feature is large."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    y = X[:, 0] + 0.5 * np.sin(3 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.3 * rng.standard_normal(n)
    y = np.minimum(y, 2.0)
    y[(X[:, 5] > 1.5) & (rng.random(n) < 0.5)] = 2.0
    return X, y


def test_quantiles_of_capped_targets():
    X, y = capped(0)
    T, expected = capped(1)
    losses = [mean_pinball_loss(expected, model.fit(X, y).predict(T), alpha=0.9) for model in (
        SymmetricBoostingRegressor(loss="quantile", quantile=0.9, max_iter=300, random_state=0),
        CurvatureBoostingRegressor(loss="quantile", quantile=0.9, max_iter=100, random_state=0))]
    assert losses[0] < 1.1 * losses[1]


@pytest.mark.parametrize("loss", ["absolute_error", "huber"])
@pytest.mark.parametrize("kind", [SymmetricBoostingRegressor, CurvatureBoostingRegressor])
def test_wild_targets_and_robust_losses(kind, loss):
    X, y, T, expected = bent_surface(0.0, n=800)
    errors = []
    for n_wild in (0, 1, 40):
        targets = y.copy()
        targets[:n_wild] += 1e5 if n_wild == 1 else 20.0
        model = kind(loss=loss, random_state=0).fit(X, targets)
        errors.append(np.abs(model.predict(T) - expected).mean())
    assert errors[1] < 1.5 * errors[0] and errors[2] < 2.0 * errors[0]
