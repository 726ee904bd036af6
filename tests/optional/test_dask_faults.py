"""Workers that die in the middle of a fit, and fits that fail."""

import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da  # noqa: E402

from fctree import SymmetricBoostingRegressor  # noqa: E402
from fctree.dask import DaskSymmetricBoostingRegressor  # noqa: E402
from fctree.dask.growth import Growth  # noqa: E402
from optional.dask_cluster import two_processes  # noqa: E402

SHORT = {"max_iter": 4, "max_depth": 3, "random_state": 0, "subsample": 0.8}


@pytest.fixture(scope="module", autouse=True)
def client():
    with two_processes() as client:
        yield client


def draw():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    return X, X[:, 0] * X[:, 1]


def kill_a_worker(client, which):
    """Ends a worker's process as an operating system that runs short of memory does."""
    pids = client.run(os.getpid)
    os.kill(pids[sorted(pids)[which]], signal.SIGKILL)


@pytest.mark.parametrize("which", [0, 1])
def test_a_killed_worker_changes_nothing(client, monkeypatch, which):
    client.wait_for_workers(2)  # a killed one is started again
    X, y = draw()
    grow, calls = Growth.grow, []

    def grow_and_kill(self, measured):
        calls.append(len(self.trees))
        if len(calls) == 3:
            kill_a_worker(client, which)
        return grow(self, measured)

    monkeypatch.setattr(Growth, "grow", grow_and_kill)
    chunks = (100, 200, 100)
    model = DaskSymmetricBoostingRegressor(**SHORT).fit(
        da.from_array(X, chunks=(chunks, 5)), da.from_array(y, chunks=(chunks,))
    )
    assert calls.count(2) >= 2  # the round was grown again
    local = SymmetricBoostingRegressor(**SHORT).fit(X, y)
    assert model.trees_.leaf_values.tobytes() == local.trees_.leaf_values.tobytes()
    assert model.trees_.split_feature.tobytes() == local.trees_.split_feature.tobytes()


def test_workers_that_die_again_and_again_end_the_fit_with_one_error(client, monkeypatch):
    from fctree.dask.placement import WorkerLost

    X, y = draw()

    def lose(self, measured):
        raise WorkerLost("gone")

    monkeypatch.setattr(Growth, "grow", lose)
    model = DaskSymmetricBoostingRegressor(**SHORT)
    with pytest.raises(RuntimeError, match="lost workers 6 times"):
        model.fit(da.from_array(X, chunks=200), da.from_array(y, chunks=200))
    assert not hasattr(model, "trees_")


def test_nothing_is_left_on_the_workers(client):
    X, y = draw()
    DaskSymmetricBoostingRegressor(**SHORT).fit(
        da.from_array(X, chunks=200), da.from_array(y, chunks=200)
    )

    def remembered():
        from fctree.dask import state

        return len(state._STATES)

    client.wait_for_workers(2)
    assert set(client.run(remembered).values()) == {0}
