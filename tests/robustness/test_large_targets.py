"""Targets so large that concatenated directions of FC-ODT outgrow the identity that they are added to."""

import numpy as np
import pytest
from fctree import FCODTRegressor
from sklearn.metrics import r2_score

SCALES = (1e7, 1e8, 1e10, 1e100)


def wide(seed):
    """Leaves with fewer samples than features, which the dual solves."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 12))
    return X, np.abs(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=60)


def narrow(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 1))
    return X, np.abs(X[:, 0]) + 0.1 * rng.normal(size=30)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("data", [wide, narrow])
@pytest.mark.parametrize("settings", [{}, {"max_depth": 6, "min_samples_leaf": 4}], ids=str)
def test_leaves_explain_large_targets_as_well_as_others(scale, data, settings):
    for seed in range(20):
        X, y = data(seed)
        model = FCODTRegressor(**settings).fit(X, y)
        large = FCODTRegressor(**settings).fit(X, scale * y)
        found = large.predict(X)
        assert np.isfinite(found).all()
        assert r2_score(y, found / scale) > min(0.9, model.score(X, y)) - 0.1


@pytest.mark.parametrize("scale", SCALES[1:])
def test_penalties_along_concatenated_directions_vanish_evenly(scale):
    """From some size on targets are as good as larger ones, up to rounding."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 5))
    y = np.abs(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=500)
    base = FCODTRegressor(max_depth=5, min_samples_leaf=4).fit(X, 1e7 * y).predict(X) / 1e7
    found = FCODTRegressor(max_depth=5, min_samples_leaf=4).fit(X, scale * y).predict(X) / scale
    np.testing.assert_allclose(found, base, rtol=1e-4, atol=1e-4)
