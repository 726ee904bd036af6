"""Workers that die in the middle of a fit, and fits that fail."""

import os
import signal
import time

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da  # noqa: E402

from fctree import SymmetricBoostingRegressor  # noqa: E402
from fctree.dask import DaskSymmetricBoostingRegressor  # noqa: E402
from fctree.dask import growth  # noqa: E402
from fctree.dask.growth import Growth  # noqa: E402
from fctree.dask.placement import result_of  # noqa: E402
from optional.dask_cluster import processes, two_processes  # noqa: E402

SHORT = {"max_iter": 4, "max_depth": 3, "random_state": 0, "subsample": 0.8}


@pytest.fixture(autouse=True)
def client():
    """A cluster a test: a worker that was killed may take long to come back, or not come."""
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


def assert_local_model(model, X, y):
    local = SymmetricBoostingRegressor(**SHORT).fit(X, y)
    assert model.trees_.leaf_values.tobytes() == local.trees_.leaf_values.tobytes()
    assert model.trees_.split_feature.tobytes() == local.trees_.split_feature.tobytes()


def fit_in_three_chunks(X, y):
    chunks = (100, 200, 100)
    return DaskSymmetricBoostingRegressor(**SHORT).fit(
        da.from_array(X, chunks=(chunks, 5)), da.from_array(y, chunks=(chunks,))
    )


@pytest.mark.parametrize("which", [0, 1])
def test_a_worker_killed_between_rounds_changes_nothing(client, monkeypatch, which):
    X, y = draw()
    grow, calls = Growth.grow, []

    def grow_and_kill(self):
        calls.append(len(self.trees))
        if len(calls) == 3:
            kill_a_worker(client, which)
        return grow(self)

    monkeypatch.setattr(Growth, "grow", grow_and_kill)
    monkeypatch.setattr(growth, "PACE_SECONDS", 0.0)  # a round a call
    model = fit_in_three_chunks(X, y)
    assert calls.count(2) >= 2  # the round was grown again
    assert_local_model(model, X, y)


def dying_once(flag, name):
    """Makes a worker's process end when its shard counts the second level of the third tree.

    Made here, so that it goes to the workers as code: they cannot import the tests.
    """

    def prepare():
        from fctree.dask import shard

        count_level = shard.count_level

        def count_or_die(plan, shard_name, iteration, level, *args):
            if (shard_name, iteration, level) == (name, 2, 1) and not os.path.exists(flag):
                open(flag, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return count_level(plan, shard_name, iteration, level, *args)

        # Pickle sends the step by its name, which has to be found under it.
        shard.count_level = count_or_die
        count_or_die.__module__, count_or_die.__qualname__ = shard.__name__, "count_level"

    return prepare


def assert_survives_inside_a_round(client, monkeypatch, flag, name):
    X, y = draw()
    client.run(dying_once(str(flag), name))
    monkeypatch.setattr(Growth, "first_pace", SHORT["max_iter"])  # all rounds in one call
    model = DaskSymmetricBoostingRegressor(**SHORT).fit(
        da.from_array(X, chunks=(40, 5)), da.from_array(y, chunks=40)
    )
    assert flag.exists()
    assert_local_model(model, X, y)


@pytest.mark.parametrize("name", ["train-0", "train-1"])
def test_a_worker_that_dies_inside_a_round_changes_nothing(client, monkeypatch, tmp_path, name):
    """The lead's worker and one that it waits for."""
    assert_survives_inside_a_round(client, monkeypatch, tmp_path / "died", name)


def test_a_worker_that_another_waits_for_dies_inside_a_round(monkeypatch, tmp_path):
    """The fifth member of a team answers to the second, not to the lead."""
    with processes(5) as client:
        assert_survives_inside_a_round(client, monkeypatch, tmp_path / "died", "train-4")


def test_workers_that_die_again_and_again_end_the_fit_with_one_error(client, monkeypatch):
    from fctree.dask.placement import WorkerLost

    X, y = draw()

    def lose(self):
        raise WorkerLost("gone")

    monkeypatch.setattr(Growth, "grow", lose)
    model = DaskSymmetricBoostingRegressor(**SHORT)
    with pytest.raises(RuntimeError, match="lost workers 6 times"):
        model.fit(da.from_array(X, chunks=200), da.from_array(y, chunks=200))
    assert not hasattr(model, "trees_")


def test_an_answer_that_comes_in_the_moment_of_the_time_out_is_taken():
    class Call:
        def result(self, timeout=None):
            if timeout is not None:
                raise TimeoutError
            return "answer"

        def done(self):
            return True

    assert result_of(Call(), check=None) == "answer"


def test_nothing_is_left_on_the_workers(client):
    X, y = draw()
    fit_in_three_chunks(X, y)

    def remembered(dask_worker):
        from fctree.dask import state

        return len(state._STATES), len(dask_worker.state.actors)

    deadline = time.monotonic() + 30  # Dask tells workers what is not wanted any more, later
    while set(client.run(remembered).values()) != {(0, 0)}:
        assert time.monotonic() < deadline
        time.sleep(0.05)
