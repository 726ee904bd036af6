"""Trees of few levels are evaluated with a row in each lane, to the same bytes as one by one."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from fctree import CurvatureBoostingClassifier, CurvatureBoostingRegressor, CurvatureForestRegressor

FEW = 50  # rows of a call whose products are computed one after the other


def raw(model, X):
    return getattr(model, "decision_function", model.predict)(X)


def by_few(model, X):
    return np.concatenate([raw(model, X[begin:begin + FEW]) for begin in range(0, len(X), FEW)])


def table(n_features, n_classes=0, n=700, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    X[:, -1] = X[:, -1].round()
    y = np.abs(X @ rng.normal(size=n_features)) + np.sin(3 * X[:, 0]) + rng.normal(size=n)
    return X, (np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes)) if n_classes else y)


@pytest.mark.parametrize("max_depth", [1, 2, 3, 4])
@pytest.mark.parametrize("n_features", [1, 3, 8, 9, 16, 20, 31])
def test_regression(n_features, max_depth):
    X, y = table(n_features)
    model = CurvatureBoostingRegressor(max_iter=12, max_depth=max_depth, random_state=0).fit(X, y)
    np.testing.assert_array_equal(raw(model, X), by_few(model, X))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_many_outputs(n_classes):
    X, y = table(7, n_classes, n=1500)
    model = CurvatureBoostingClassifier(max_iter=12, random_state=0).fit(X, y)
    np.testing.assert_array_equal(raw(model, X), by_few(model, X))


def test_forests_and_far_away_rows():
    X, y = table(6)
    model = CurvatureForestRegressor(n_estimators=8, max_depth=3, random_state=0).fit(X, y)
    far = np.vstack([X, 1e12 * X, -1e300 * np.sign(X)])
    np.testing.assert_array_equal(raw(model, far), by_few(model, far))


def test_steps_that_are_shallow():
    X, y = table(4)
    model = CurvatureBoostingRegressor(max_iter=30, step_depth=2, random_state=0).fit(X > 0, y)
    np.testing.assert_array_equal(raw(model, X), by_few(model, X))


def test_partial_blocks():
    X, y = table(12, n=257)
    model = CurvatureBoostingRegressor(max_iter=10, random_state=0).fit(X, y)
    for n in (64, 127, 129, 257):
        np.testing.assert_array_equal(raw(model, X[:n]), by_few(model, X[:n]))


SCRIPT = """
import pickle, sys
import numpy as np
with open(sys.argv[1], "rb") as file:
    models = pickle.load(file)
for model, X in models:
    together = model.predict(X)
    few = np.concatenate([model.predict(X[begin:begin + 50]) for begin in range(0, len(X), 50)])
    np.testing.assert_array_equal(together, few)
"""


@pytest.mark.parametrize("simd", ["baseline", "avx2"])
def test_other_instruction_sets(tmp_path, simd):
    tables = [table(n_features) for n_features in (5, 11, 20)]
    models = [(CurvatureBoostingRegressor(max_iter=12, random_state=0).fit(X, y), X) for X, y in tables]
    path = tmp_path / "models.pickle"
    path.write_bytes(pickle.dumps(models))
    subprocess.run([sys.executable, "-c", SCRIPT, str(path)], check=True, timeout=300,
                   env={**os.environ, "FCTREE_SIMD": simd})
