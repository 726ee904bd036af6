"""The encodings of a column count in importances by the sum of their terms."""

import sys

import numpy as np
import pandas as pd
import pytest
from fctree import CurvatureBoostingRegressor, CurvatureForestRegressor, CurvatureTreeRegressor

MODELS = [
    CurvatureTreeRegressor(max_depth=2),
    CurvatureForestRegressor(n_estimators=10, random_state=0),
    CurvatureBoostingRegressor(max_iter=10, random_state=0),
]


def cancelling(n=800):
    """Two features that hardly differ, whose difference is half of the target; the other half, and one of no use."""
    rng = np.random.default_rng(0)
    common, difference, other, none = rng.normal(size=(4, n))
    X = np.column_stack([common, common + 0.05 * difference, other, none])
    return X, difference + other + 0.1 * rng.normal(size=n)


def importances(model, X, y, groups, monkeypatch):
    """Those of a model whose features have these groups."""
    for module in {base.__module__ for base in type(model).__mro__ if base.__module__.startswith("fctree")}:
        if hasattr(sys.modules[module], "feature_groups"):
            monkeypatch.setattr(sys.modules[module], "feature_groups", lambda estimator: groups)
    return model.fit(X, y).feature_importances_


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_terms_of_a_group_may_cancel(model, monkeypatch):
    X, y = cancelling()
    apart = importances(model, X, y, None, monkeypatch)
    same = importances(model, X, y, np.arange(4), monkeypatch)
    together = importances(model, X, y, np.array([0, 0, 1, 2]), monkeypatch)
    np.testing.assert_array_equal(same, apart)
    assert together[:2].sum() < apart[:2].sum() - 0.1
    assert together[0] > 0.0 and together[1] > 0.0
    assert together.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(3))
def test_a_category_counts_by_what_it_does(seed):
    """Its mean effect and target mean go together, so that a linear model of both may have large terms that cancel."""
    rng = np.random.default_rng(seed)
    code, x, z = rng.integers(0, 11, 4000), rng.normal(size=4000), rng.normal(size=4000)
    y = x + 0.3 * rng.normal(size=11)[code] + rng.normal(size=4000)
    noise = np.argsort(np.argsort(z + rng.normal(size=4000))) * 11 // 4000
    X = pd.DataFrame({"x": x, "z": z, "c": [f"{v}" for v in code], "noise": [f"{v}" for v in noise]})
    found = CurvatureTreeRegressor(max_depth=0).fit(X, y).feature_importances_
    assert found[0] > 0.8 and found[2] > 2 * found[3]


def test_features_with_no_variation_have_no_part(monkeypatch):
    X, y = cancelling()
    X[:, 1] = X[:, 0]
    found = importances(CurvatureTreeRegressor(max_depth=1), X, y, np.array([0, 0, 1, 1]), monkeypatch)
    assert np.isfinite(found).all() and found[2] > 0.5
