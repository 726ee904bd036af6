"""Importances whose models are trained on the workers of a cluster."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("distributed")

from optional.dask_cluster import client, processes  # noqa: E402, F401
from sklearn.linear_model import SGDRegressor  # noqa: E402

from fctree import (  # noqa: E402
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    TreeNTKRegressor,
)
from fctree.inspection import (  # noqa: E402
    RoundByRound,
    shapley_importance,
    variable_importance,
)

BOOSTING = SymmetricBoostingRegressor(max_iter=15, max_depth=3, n_iter_no_change=3)
MODELS = {
    "boosting": BOOSTING,
    "kernel": TreeNTKRegressor(alpha=0.1, depth=2, scale=0.5),
    "epochs": SGDRegressor(max_iter=10),
}


def draw(n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=n)


def assert_same(found, local):
    """Everything but how long it took."""
    for name, value in vars(local).items():
        if "seconds" in name:
            continue
        if isinstance(value, np.ndarray):
            assert getattr(found, name).tobytes() == value.tobytes(), name
        elif name != "groups":
            assert getattr(found, name) == value, name


@pytest.mark.parametrize("method", ["early_stopping", "dropout", "retrain"])
@pytest.mark.parametrize("kind", sorted(MODELS))
def test_importances_are_those_without_a_cluster(client, kind, method):
    X, y = draw()
    options = {"method": method, "random_state": 0}
    local = variable_importance(MODELS[kind], X, y, **options)
    found = variable_importance(MODELS[kind], X, y, client=client, **options)
    assert_same(found, local)


def test_groups_weights_and_classes(client):
    X, y = draw()
    weight = np.random.default_rng(1).random(len(y)) + 0.1
    model = SymmetricBoostingClassifier(max_iter=10, max_depth=2)
    options = {
        "sample_weight": weight, "groups": {"pair": [0, 1], "all": [0, 1, 2, 3, 4]},
        "scoring": "neg_log_loss", "random_state": 3,
    }
    local = variable_importance(model, X, y > 0, **options)
    assert_same(variable_importance(model, X, y > 0, client=client, **options), local)


@pytest.mark.parametrize("n_subsets", [None, 24])
def test_shapley_values_are_those_without_a_cluster(client, n_subsets):
    X, y = draw()
    options = {"n_subsets": n_subsets, "random_state": 0}
    local = shapley_importance(BOOSTING, X, y, **options)
    assert_same(shapley_importance(BOOSTING, X, y, client=client, **options), local)


def dies_once(note):
    """A least-squares model whose first continuation ends its worker's process.

    Its class is made here, so that it goes to the workers as code: they cannot import the tests.
    """

    class DiesOnce(RoundByRound):
        def start(self, train):
            self.coef = np.zeros(train.X.shape[1])

        def train_round(self, train):
            self.coef = np.linalg.lstsq(train.X, train.y, rcond=None)[0]

        def predict(self, X):
            return X @ self.coef

        def continue_fit(self, train, validation):
            if note and not os.path.exists(note):
                open(note, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().continue_fit(train, validation)

    return DiesOnce(max_iter=2)


def test_a_killed_worker_changes_nothing(tmp_path):
    X, y = draw()
    local = variable_importance(dies_once(""), X, y, random_state=0)
    model = dies_once(str(tmp_path / "died"))
    with processes(2) as client:  # its own: a killed worker may not come back
        found = variable_importance(model, X, y, client=client, random_state=0)
    assert (tmp_path / "died").exists()
    assert_same(found, local)


def test_data_that_no_worker_holds_any_more_are_sent_again(client, monkeypatch):
    from fctree.dask import cluster

    gather, calls = cluster.gather, []

    def lose_once(*args):
        calls.append(args)
        if len(calls) == 3:
            raise cluster.WorkerLost("gone")
        return gather(*args)

    X, y = draw()
    local = variable_importance(BOOSTING, X, y, random_state=0)
    monkeypatch.setattr(cluster, "gather", lose_once)
    found = variable_importance(BOOSTING, X, y, client=client, random_state=0)
    assert len(calls) > 3
    assert_same(found, local)


def test_workers_lost_again_and_again_are_one_error(client, monkeypatch):
    from fctree.dask import cluster

    def lose(*args):
        raise cluster.WorkerLost("gone")

    monkeypatch.setattr(cluster, "gather", lose)
    X, y = draw()
    with pytest.raises(RuntimeError, match="lost 6 times"):
        variable_importance(BOOSTING, X, y, client=client, random_state=0)


def test_an_error_on_a_worker_is_raised_here(client):
    X, y = draw()
    X[0, 0] = 1e300
    with pytest.raises(ValueError, match="rescale the features"):
        variable_importance(MODELS["kernel"], X, y, client=client)
    model = SGDRegressor(learning_rate="constant", eta0=1e200)
    with pytest.raises(ValueError, match="not finite|overflow|Floating"):
        variable_importance(model, draw()[0], y, client=client, random_state=0)


@pytest.mark.parametrize("client_like", ["scheduler:8786", 3, object()])
def test_what_is_no_client_is_refused(client_like):
    X, y = draw()
    for function in (variable_importance, shapley_importance):
        with pytest.raises(TypeError, match="client must be a distributed.Client"):
            function(BOOSTING, X, y, client=client_like)


def test_dask_is_not_imported_without_a_client():
    code = (
        "import sys, numpy as np; from fctree import SymmetricBoostingRegressor as S;"
        "from fctree.inspection import variable_importance as v;"
        "X = np.random.default_rng(0).normal(size=(80, 2));"
        "v(S(max_iter=2), X, X[:, 0], random_state=0); print('distributed' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["False"], done.stderr
