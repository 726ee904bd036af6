"""Importances are the same bytes for any number of threads, and for equal seeds."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neural_network import MLPRegressor

from fctree import SymmetricBoostingRegressor, TreeNTKRegressor
from fctree._threads import one_thread
from fctree.inspection import masked_outputs, shapley_importance, variable_importance

MODELS = {
    "boosting": SymmetricBoostingRegressor(max_iter=40, max_depth=3, subsample=0.8),
    "network": MLPRegressor(hidden_layer_sizes=(8,), max_iter=15),
    "kernel": TreeNTKRegressor(alpha=0.1, scale=0.5),
}


def make_data(n=240, d=5):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)


def numbers(result):
    return [result.importances, result.stderr, result.p_values, result.n_iter]


METHODS = ("early_stopping", "dropout", "retrain")
CASES = [(name, method) for name in ("boosting", "kernel") for method in METHODS]


@pytest.mark.parametrize("name, method", [*CASES, ("network", "early_stopping")])
def test_threads(name, method):
    found = [
        variable_importance(
            MODELS[name], *make_data(), method=method, random_state=3, n_jobs=n_jobs
        )
        for n_jobs in ((1, 2) if name == "network" else (1, 2, 4))
    ]
    for other in found[1:]:
        for one, two in zip(numbers(found[0]), numbers(other), strict=True):
            np.testing.assert_array_equal(one, two)


def test_more_threads_than_masks():
    options = {"groups": [[0]], "random_state": 3}
    one = variable_importance(MODELS["boosting"], *make_data(), n_jobs=1, **options)
    four = variable_importance(MODELS["boosting"], *make_data(), n_jobs=4, **options)
    np.testing.assert_array_equal(one.importances, four.importances)


@pytest.mark.parametrize("n_subsets", [None, 20])
def test_shapley_threads(n_subsets):
    found = [
        shapley_importance(
            MODELS["boosting"], *make_data(), n_subsets=n_subsets, random_state=3, n_jobs=n_jobs
        )
        for n_jobs in (1, 2, 4)
    ]
    for other in found[1:]:
        for one, two in zip(numbers(found[0]), numbers(other), strict=True):
            np.testing.assert_array_equal(one, two)


def test_seeds():
    options = {"groups": [[0], [1]]}
    one, two, other = (
        variable_importance(MODELS["boosting"], *make_data(), random_state=seed, **options)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.importances, two.importances)
    assert not np.array_equal(one.importances, other.importances)
    generator = np.random.RandomState(0)
    first = variable_importance(
        MODELS["boosting"], *make_data(), random_state=generator, **options
    )
    np.testing.assert_array_equal(one.importances, first.importances)


def test_batches_of_masks(monkeypatch):
    """The number of masks that a native call takes changes nothing."""
    from fctree.inspection import boosting

    whole = shapley_importance(MODELS["boosting"], *make_data(), random_state=0)
    monkeypatch.setattr(boosting, "_BYTES_AT_ONCE", 1)
    parts = shapley_importance(MODELS["boosting"], *make_data(), random_state=0)
    np.testing.assert_array_equal(whole.importances, parts.importances)


def test_one_limit_of_threads_for_all_subsets(monkeypatch):
    """Setting one takes longer than to fit a linear model."""
    limits = []

    def counting():
        limits.append(1)
        return one_thread()

    monkeypatch.setattr(masked_outputs, "one_thread", counting)
    shapley_importance(Ridge(), *make_data(), method="retrain", random_state=0)
    assert 1 <= len(limits) < 8  # of 32 subsets
