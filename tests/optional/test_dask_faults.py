"""Workers that die in the middle of a fit, and fits that fail."""

import gc
import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da  # noqa: E402
from distributed import Client  # noqa: E402
from optional.dask_cluster import client_of_a_test as client  # noqa: E402, F401
from optional.dask_cluster import processes  # noqa: E402

from fctree import SymmetricBoostingRegressor  # noqa: E402
from fctree.dask import DaskSymmetricBoostingRegressor, distributed_fit  # noqa: E402
from fctree.dask.cluster import WorkerLost  # noqa: E402
from fctree.dask.distributed_fit import DistributedFit  # noqa: E402

SHORT = {"max_iter": 4, "max_depth": 3, "random_state": 0, "subsample": 0.8}
ROUND = 2  # in which workers die


def draw():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    return X, X[:, 0] * X[:, 1]


def dying_once(flag, rank, calls):
    """Makes the process of the worker of this rank end in round `ROUND`, when it has exchanged sums
    so often in it; with no calls just behind it.

    Made here, so that it goes to the workers as code: they cannot import the tests.
    """

    def prepare():
        from fctree.dask.collective import Collective

        tell, reduce = Collective.tell, Collective.reduce
        rounds = [0]
        reduced = [0]

        def die():
            if not os.path.exists(flag):
                open(flag, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)

        def tell_or_die(self, *losses):
            tell(self, *losses)
            rounds[0], reduced[0] = rounds[0] + 1, 0
            if rounds[0] == ROUND and calls == 0 and self.rank == rank:
                die()

        def reduce_or_die(self, *arrays):
            reduced[0] += 1
            if rounds[0] == ROUND and reduced[0] == calls and self.rank == rank:
                die()
            return reduce(self, *arrays)

        Collective.tell, Collective.reduce = tell_or_die, reduce_or_die

    return prepare


def count_attempts(monkeypatch):
    """The rounds that are known when workers begin, each time they do."""
    submit, known = DistributedFit._submit, []

    def submit_and_count(self, fit):
        known.append(getattr(self.local, "n_iter_", 0))
        return submit(self, fit)

    monkeypatch.setattr(DistributedFit, "_submit", submit_and_count)
    return known


def assert_local_model(model, X, y, params=SHORT, **fit):
    local = SymmetricBoostingRegressor(**params).fit(X, y, **fit)
    for name, array in vars(local.trees_).items():
        assert getattr(model.trees_, name).tobytes() == array.tobytes(), name
    np.testing.assert_allclose(model.train_score_, local.train_score_, rtol=1e-12)


def assert_survives(client, monkeypatch, flag, rank, calls):
    X, y = draw()
    known = count_attempts(monkeypatch)
    client.run(dying_once(str(flag), rank, calls))
    model = DaskSymmetricBoostingRegressor(**SHORT).fit(
        da.from_array(X, chunks=(40, 5)), da.from_array(y, chunks=40)
    )
    assert flag.exists()
    # The rounds that were done are not grown again; behind its last one the others may not have heard.
    assert known in ([0, ROUND], [0, ROUND - 1] if calls == 0 else None)
    assert_local_model(model, X, y)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_worker_killed_between_rounds_changes_nothing(client, monkeypatch, tmp_path, rank):
    assert_survives(client, monkeypatch, tmp_path / "died", rank, 0)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_worker_that_dies_inside_a_round_changes_nothing(client, monkeypatch, tmp_path, rank):
    assert_survives(client, monkeypatch, tmp_path / "died", rank, 2)


def test_a_worker_that_another_waits_for_dies_inside_a_round(monkeypatch, tmp_path):
    """Of five workers the last ones exchange with others than the first."""
    with processes(5) as client:
        assert_survives(client, monkeypatch, tmp_path / "died", 4, 2)


def test_the_only_worker_may_die(tmp_path):
    """Nobody has the rounds that it has grown."""
    X, y = draw()
    with processes(1) as client:
        client.run(dying_once(str(tmp_path / "died"), 0, 2))
        model = DaskSymmetricBoostingRegressor(**SHORT).fit(
            da.from_array(X, chunks=(40, 5)), da.from_array(y, chunks=40)
        )
    assert (tmp_path / "died").exists()
    assert_local_model(model, X, y)


@pytest.mark.parametrize("learning_rate", [0.3, 3.0])
def test_early_stopping_goes_on_where_it_was(client, tmp_path, learning_rate):
    """At the larger rate the model is best before its first round, which others had grown."""
    X, y = draw()
    params = {**SHORT, "early_stopping": True, "n_iter_no_change": 3, "max_iter": 8,
              "learning_rate": learning_rate}
    client.run(dying_once(str(tmp_path / "died"), 1, 2))
    model = DaskSymmetricBoostingRegressor(**params).fit(
        da.from_array(X, chunks=(100, 5)), da.from_array(y, chunks=100), eval_set=(X[:50], y[:50])
    )
    assert (tmp_path / "died").exists()
    assert_local_model(model, X, y, params, eval_set=(X[:50], y[:50]))


def test_workers_that_die_again_and_again_end_the_fit_with_one_error(client, monkeypatch):
    X, y = draw()

    def lose(self, listener):
        raise WorkerLost("gone")

    monkeypatch.setattr(DistributedFit, "_attempt", lose)
    model = DaskSymmetricBoostingRegressor(**SHORT)
    with pytest.raises(RuntimeError, match="lost workers 6 times"):
        model.fit(da.from_array(X, chunks=200), da.from_array(y, chunks=200))
    assert not hasattr(model, "trees_")


def test_an_error_of_one_worker_ends_the_fit(client):
    X, y = draw()

    def fail():
        from fctree.dask.collective import Collective

        def tell(self, *losses):
            if self.rank == 1:
                raise ArithmeticError("of one worker")

        Collective.tell = tell

    client.run(fail)
    with pytest.raises(ArithmeticError, match="of one worker"):
        DaskSymmetricBoostingRegressor(**SHORT).fit(
            da.from_array(X, chunks=200), da.from_array(y, chunks=200)
        )
    assert_nothing_is_left(client)


class Stopped(BaseException):
    """As Ctrl-C is: no Exception."""


def test_an_interrupt_ends_the_fit_at_once(client, monkeypatch):
    X, y = draw()

    def interrupt(self, *args):
        raise Stopped

    monkeypatch.setattr(DistributedFit, "_wait", interrupt)
    with pytest.raises(Stopped):
        DaskSymmetricBoostingRegressor(**{**SHORT, "max_iter": 10_000_000}).fit(
            da.from_array(X, chunks=200), da.from_array(y, chunks=200)
        )
    assert_nothing_is_left(client)


def test_nothing_is_left_on_the_workers(client):
    X, y = draw()
    DaskSymmetricBoostingRegressor(**SHORT).fit(
        da.from_array(X, chunks=((100, 200, 100), 5)), da.from_array(y, chunks=((100, 200, 100),))
    )
    assert_nothing_is_left(client)


def test_two_fits_at_once_do_not_wait_for_each_other(client):
    """Each worker has one thread, and each fit needs both workers."""
    from concurrent.futures import ThreadPoolExecutor

    X, y = draw()

    def fit(seed):
        with client.as_current():
            params = {**SHORT, "random_state": seed}
            return DaskSymmetricBoostingRegressor(**params).fit(
                da.from_array(X, chunks=200), da.from_array(y, chunks=200)
            )

    with ThreadPoolExecutor(3) as pool:
        for seed, model in enumerate(pool.map(fit, range(3))):
            assert_local_model(model, X, y, {**SHORT, "random_state": seed})


def assert_nothing_is_left(client):
    import time

    def remembered(dask_worker):
        from fctree.dask import collective

        return len(collective._INBOXES), len(dask_worker.state.tasks)

    deadline = time.monotonic() + 30  # Dask tells workers what is not wanted any more, later
    while set(client.run(remembered).values()) != {(0, 0)}:
        assert time.monotonic() < deadline
        gc.collect()
        time.sleep(0.05)


def test_a_worker_lost_while_the_client_asks_for_rounds_changes_nothing(client, monkeypatch):
    """The one that it asks: with ``verbose`` these are printed as they come."""
    X, y = draw()
    run, asked = Client.run, []

    def run_without_answer(self, function, *args, workers=None, **options):
        if function.__name__ == "losses_since" and not asked:
            asked.append(workers)
            if options.get("on_error") != "ignore":
                raise OSError(f"cannot connect to {workers[0]}")
            return {}
        return run(self, function, *args, workers=workers, **options)

    monkeypatch.setattr(Client, "run", run_without_answer)
    monkeypatch.setattr(distributed_fit, "POLL_SECONDS", 0.02)
    params = {**SHORT, "max_iter": 60, "verbose": 1}
    model = DaskSymmetricBoostingRegressor(**params).fit(da.from_array(X, chunks=(40, 5)), da.from_array(y, chunks=40))
    assert asked
    assert_local_model(model, X, y, params)
