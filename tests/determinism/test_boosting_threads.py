"""Boosted models are the same bytes for any number of threads, in any process.

Tables are large enough to be cut into several tiles of rows.
"""

import hashlib
import os

import joblib
import numpy as np
import pytest
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from loss_cases import REGRESSION_LOSSES, loss_parameters
from scripts import Script

BASE = {"max_iter": 6, "random_state": 3}
CASES = {
    "plain": {},
    "greedy": {"random_strength": 0.0, "max_depth": 8},
    "subsample": {"subsample": 0.5},
    "colsample": {"colsample": 0.4},
    "gumbel": {"score_noise": "gumbel", "random_strength": 0.01},
    "cosine": {"score_function": "cosine", "min_samples_leaf": 20},
    "few bins": {"max_bins": 3},
    "early stopping": {"early_stopping": True, "subsample": 0.9},
    "monotone": {"monotonic_cst": [1, -1, 0, 0, 0, 0, 0]},
    "posterior": {"posterior_samples": 2},
}


def table(n=20_000, d=7, seed=0, missing=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1] = rng.integers(0, 5, n)
    y = np.exp(0.5 * X[:, 0] * X[:, 2] + 0.3 * X[:, 1] - 0.5 * rng.standard_normal(n))
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng.uniform(0.2, 3, n)


def fingerprint(model, X):
    """A hash of every array of the model and of all that is computed from it."""
    digest = hashlib.sha256()
    for name, array in sorted(vars(model.trees_).items()):
        digest.update(name.encode() + array.tobytes())
    parts = [model.baseline_, model.train_score_, model.validation_score_, model.apply(X),
             model.feature_importances_, *model.bin_thresholds_, model.predict(X),
             model.predict(X[:3])]
    if hasattr(model, "predict_proba"):
        parts.append(model.predict_proba(X))
    if getattr(model, "posterior_samples", 0):
        parts.append(model.predict(X, return_std=True)[1])
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def assert_same_bytes(kind, X, y, weight=None, **parameters):
    found = {fingerprint(kind(**BASE, **parameters, n_jobs=n).fit(X, y, sample_weight=weight), X)
             for n in (1, 2, 4, 16)}  # many threads get more, smaller tasks
    assert len(found) == 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_settings(case, weighted):
    X, y, weight = table(missing=weighted)
    assert_same_bytes(SymmetricBoostingRegressor, X, y, weight if weighted else None, **CASES[case])


@pytest.mark.parametrize("weighted", [False, True])
def test_long_tables(weighted):
    X, y, weight = table(100_000, 3, seed=4, missing=weighted)
    assert_same_bytes(SymmetricBoostingRegressor, X, y, weight if weighted else None)


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_losses(loss):
    X, y, weight = table(10_000, seed=1, missing=True)
    assert_same_bytes(SymmetricBoostingRegressor, X, y, weight, **loss_parameters(loss))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("case", ["plain", "subsample", "gumbel"])
def test_classes(case, n_classes):
    X, y, weight = table(10_000, seed=2, missing=True)
    labels = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    assert_same_bytes(SymmetricBoostingClassifier, X, labels, weight, **CASES[case])


def test_outputs_layouts_and_more_threads_than_samples():
    X, y, weight = table(9_000, seed=3)
    Y = np.column_stack([y, X[:, 0]])
    assert_same_bytes(SymmetricBoostingRegressor, np.asfortranarray(X), Y, weight)
    few = SymmetricBoostingRegressor(**BASE).fit(X[:5], y[:5])
    many = SymmetricBoostingRegressor(**BASE, n_jobs=16).fit(X[:5], y[:5])
    assert fingerprint(few, X) == fingerprint(many, X)


def test_a_large_table_goes_another_way_to_its_thresholds():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((250_000, 2))
    weight = rng.uniform(0.2, 3, len(X))
    assert_same_bytes(SymmetricBoostingRegressor, X, X[:, 0] * X[:, 1], weight, max_bins=32,
                      max_depth=3)


def test_a_second_fit_and_workers_give_the_same():
    X, y, _ = table(12_000, seed=5)
    model = SymmetricBoostingRegressor(**BASE, subsample=0.7, n_jobs=2)
    expected = fingerprint(model.fit(X, y), X)
    assert fingerprint(model.fit(X, y), X) == expected
    with joblib.parallel_config(n_jobs=2):
        model = SymmetricBoostingRegressor(**BASE, subsample=0.7)
        assert fingerprint(model.fit(X, y), X) == expected

    def fit():
        model = SymmetricBoostingRegressor(**BASE, subsample=0.7, n_jobs=2)
        return fingerprint(model.fit(X, y), X)

    jobs = (joblib.delayed(fit)() for _ in range(4))
    assert set(joblib.Parallel(n_jobs=4, backend="threading")(jobs)) == {expected}


def test_the_seed_counts():
    X, y, _ = table(3_000, seed=6)
    settings = {"max_iter": 6, "subsample": 0.7}
    first, second = (SymmetricBoostingRegressor(**settings, random_state=s).fit(X, y)
                     for s in (0, 1))
    assert fingerprint(first, X) != fingerprint(second, X)


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import os
from determinism.test_boosting_threads import BASE, fingerprint, table
from fctree import SymmetricBoostingRegressor

X, y, weight = table(9_000, missing=True)

def fit(n_jobs):
    model = SymmetricBoostingRegressor(**BASE, subsample=0.7, n_jobs=n_jobs)
    return fingerprint(model.fit(X, y, sample_weight=weight), X)

if sys.argv[2] == "fork":
    expected = fit(2)
    import signal
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # ends a child that hangs
        os._exit(0 if fit(2) == expected else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(fit(int(sys.argv[3])))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("how, n_jobs", [("new", 3), ("fork", 2)])
def test_another_process_gives_the_same(how, n_jobs):
    X, y, weight = table(9_000, missing=True)
    model = SymmetricBoostingRegressor(**BASE, subsample=0.7).fit(X, y, sample_weight=weight)
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with Script(SCRIPT, tests, how, n_jobs) as process:
        assert process.wait(120) == 0, process.errors()
        assert process.stdout.read().strip() == fingerprint(model, X)
