"""The same bytes for any number of threads, in one process and in two."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from fctree import SoftTreeClassifier, SoftTreeRegressor
from reference import soft_passes

RNG = np.random.default_rng(0)
X = RNG.standard_normal((700, 7))
Y = np.abs(X[:, :2]) + 0.1 * RNG.standard_normal((700, 2))
FEW = {"max_epochs": 3, "learning_rate": 0.05, "random_state": 0}
MODELS = {
    "many trees": lambda n: SoftTreeRegressor(**FEW, n_trees=10, n_jobs=n).fit(X, Y),
    "one tree": lambda n: SoftTreeRegressor(**FEW, n_trees=1, depth=6, n_jobs=n).fit(X, Y),
    "hard": lambda n: SoftTreeRegressor(**FEW, gamma=0.01, depth=8, n_jobs=n).fit(X, Y),
    "logistic": lambda n: SoftTreeRegressor(**FEW, n_trees=3, routing="logistic", n_jobs=n).fit(
        X, Y
    ),
    "float32": lambda n: SoftTreeRegressor(**FEW, n_trees=3, depth=5, n_jobs=n).fit(
        X.astype(np.float32), Y
    ),
    "stopped": lambda n: SoftTreeRegressor(**FEW, early_stopping=True, n_jobs=n).fit(X, Y),
    "penalty": lambda n: SoftTreeClassifier(**FEW, l2_regularization=0.01, n_jobs=n).fit(
        X, X[:, 0] > 0
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_threads(name):
    one = MODELS[name](1)
    for n_jobs in (2, 4):
        other = MODELS[name](n_jobs)
        for kind, array in one._state.items():
            assert np.asarray(array).tobytes() == np.asarray(other._state[kind]).tobytes(), kind
        assert other.predict(X).tobytes() == one.predict(X).tobytes()
        assert other.reachable_leaves(X).tobytes() == one.reachable_leaves(X).tobytes()


@pytest.mark.parametrize("trees", [1, 3, 10])
@pytest.mark.parametrize("kind", ["conditional", "dense"])
def test_passes(trees, kind):
    arrays = soft_passes.random_ensemble(0, n=700, trees=trees, depth=5)
    one = soft_passes.run(*arrays, kind=kind)
    for n_threads in (2, 4):
        for ours, theirs in zip(
            soft_passes.run(*arrays, kind=kind, n_threads=n_threads), one, strict=True
        ):
            assert ours.tobytes() == theirs.tobytes()


def test_seeds_tell_models_apart():
    one = SoftTreeRegressor(**FEW).fit(X, Y)
    other = SoftTreeRegressor(**{**FEW, "random_state": 1}).fit(X, Y)
    assert not np.array_equal(one.predict(X), other.predict(X))


def test_processes():
    code = (
        "import hashlib, numpy as np; from fctree import SoftTreeRegressor; "
        "X = np.random.default_rng(1).standard_normal((300, 5)); "
        "model = SoftTreeRegressor(max_epochs=3, random_state=0, n_jobs=2).fit(X, X[:, 0]); "
        "print(hashlib.sha256(model.predict(X).tobytes()).hexdigest())"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    X = np.random.default_rng(1).standard_normal((300, 5))
    model = SoftTreeRegressor(max_epochs=3, random_state=0).fit(X, X[:, 0])
    assert there.stdout.strip() == hashlib.sha256(model.predict(X).tobytes()).hexdigest()
