"""Curvature trees have the same bytes for any number of threads.

Small tables run on one thread whatever is asked for, so these are large enough to be
shared out: rows in blocks of some thousands, candidates and nodes one by one.
"""

import numpy as np
import pytest
from free_tree import FreeTreeClassifier, FreeTreeRegressor
from reference.tree_comparison import random_weights, smooth_table


def all_bytes(model, X):
    arrays = vars(model.tree_).items()
    found = {name: value.tobytes() for name, value in arrays if isinstance(value, np.ndarray)}
    return {**found, "predict": model.predict(X).tobytes(), "alpha": model.alpha_}


def assert_same_bytes(kind, X, y, weight=None, **parameters):
    parameters = {"directions": "all", "ridge_criterion": True, **parameters}
    expected = None
    for n_jobs in (1, 2, 3, 4):
        model = kind(n_jobs=n_jobs, **parameters).fit(X, y, sample_weight=weight)
        expected = expected or all_bytes(model, X)
        assert all_bytes(model, X) == expected, f"n_jobs={n_jobs}"
    assert model.tree_.node_count >= 7, "too small a tree to show anything"


@pytest.mark.parametrize("parameters", [
    {"max_depth": 4},
    {"max_depth": 3, "alpha": "loo", "n_screened": 2, "min_samples_leaf": 50},
    {"max_depth": 3, "parent_weight": 0.0, "split_margin": 0.0},
    {"max_depth": 3, "leaf_model": "constant"},
    {"max_depth": 4, "max_coef": 3},
    {"max_depth": 3, "max_coef": 1, "ridge_criterion": False},
], ids=str)
def test_many_rows(parameters):
    X, y = smooth_table(15_000, 9, seed=90)
    assert_same_bytes(FreeTreeRegressor, X, y, **parameters)


def test_weights_and_several_outputs():
    X, Y = smooth_table(10_000, 7, 3, seed=91)
    weight = random_weights(len(X), seed=92, zeros=True)
    assert_same_bytes(FreeTreeRegressor, X, Y, weight)
    assert_same_bytes(FreeTreeRegressor, X, Y, weight, max_coef=2)


def test_classes():
    X, score = smooth_table(10_000, 7, seed=93, noise=0.0)
    y = np.searchsorted(np.quantile(score, [0.3, 0.6]), score)
    assert_same_bytes(FreeTreeClassifier, X, y)


def test_fitting_again_repeats_every_byte():
    X, y = smooth_table(9_000, 6, seed=94)
    model = FreeTreeRegressor(directions="all", ridge_criterion=True, alpha="loo", n_jobs=2)
    first = all_bytes(model.fit(X, y), X)
    assert all_bytes(model.fit(X, y), X) == first
