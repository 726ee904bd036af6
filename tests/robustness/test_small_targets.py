"""Targets whose squares underflow."""

import warnings

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    FCODTRegressor,
    SoftTreeRegressor,
    SymmetricBoostingRegressor,
)
from sklearn.base import clone

X = np.random.default_rng(0).normal(size=(200, 3))
y = np.sin(2 * X[:, 0]) + np.abs(X[:, 1])
MODELS = (
    CurvatureTreeRegressor(),
    FCODTRegressor(max_depth=3),
    CurvatureForestRegressor(n_estimators=3, random_state=0),
    CurvatureBoostingRegressor(max_iter=3, random_state=0),
    SymmetricBoostingRegressor(max_iter=3, random_state=0),
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_targets_whose_squares_underflow_are_told(model):
    for target in (1e-165 * y, np.column_stack([y, 1e-165 * y])):
        with pytest.warns(RuntimeWarning, match="square underflows"):
            clone(model).fit(X, target)


@pytest.mark.parametrize("model", [*MODELS, SoftTreeRegressor(max_epochs=2)], ids=lambda model: type(model).__name__)
def test_others_are_not(model):
    targets = [1e-150 * y, np.zeros(200), np.full(200, 1e-200)]
    if isinstance(model, SoftTreeRegressor):  # which divides by the deviation first
        targets.append(1e-165 * y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for target in targets:
            clone(model).fit(X, target)
