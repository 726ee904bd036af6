"""Workers that die while boosted oblique trees grow, sums over blocks, and errors on the way."""

import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da  # noqa: E402
from optional.dask_cluster import client_of_a_test as client  # noqa: E402, F401

from fctree.dask import DaskCurvatureBoostingRegressor  # noqa: E402
from fctree.dask.row_blocks import _pieces, cut_into_runs, join_sums, rows_of_a_block  # noqa: E402
from fctree.dask.distributed_fit import DistributedFit  # noqa: E402

PARAMS = {"max_iter": 3, "random_state": 0, "step_depth": 2}


def draw():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=300)


def fit():
    X, y = draw()
    return DaskCurvatureBoostingRegressor(**PARAMS).fit(
        da.from_array(X, chunks=(100, 5)), da.from_array(y, chunks=100)
    )


def dying_in(call, rank, note):
    """Makes the process of the worker of this rank end when it exchanges sums so often in the second
    round, unless one has died of it before.

    Made here, so that it goes to the workers as code: they cannot import the tests.
    """

    def prepare():
        from fctree.dask.collective import Collective

        tell, reduce = Collective.tell, Collective.reduce
        rounds, calls = [0], [0]

        def count_rounds(self, *losses):
            tell(self, *losses)
            rounds[0] += 1

        def reduce_or_die(self, *arrays):
            calls[0] += rounds[0] == 1
            if calls[0] == call and self.rank == rank and not os.path.exists(note):
                open(note, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return reduce(self, *arrays)

        Collective.tell, Collective.reduce = count_rounds, reduce_or_die

    return prepare


@pytest.mark.parametrize(("call", "rank"), [(5, 0), (12, 1)])
def test_a_worker_killed_inside_a_tree_changes_nothing(client, monkeypatch, tmp_path, call, rank):
    whole = fit()
    submit, known = DistributedFit._submit, []

    def count(self, name):
        known.append(getattr(self.local, "n_iter_", 0))
        return submit(self, name)

    monkeypatch.setattr(DistributedFit, "_submit", count)
    client.run(dying_in(call, rank, str(tmp_path / "died")))
    model = fit()
    assert known == [0, 1]  # the round was grown again
    for name, array in vars(whole.trees_).items():
        assert getattr(model.trees_, name).tobytes() == array.tobytes(), name
    assert model.train_score_.tobytes() == whole.train_score_.tobytes()


def test_nothing_is_left_on_the_workers(client):
    fit()

    def remembered():
        from fctree.dask import collective

        return len(collective._INBOXES)

    assert set(client.run(remembered).values()) == {0}


def sum_along_the_tree(values, begin, size):
    if size == 1:
        return values[begin]
    left = sum_along_the_tree(values, begin, size // 2)
    middle = begin + size // 2
    if middle >= len(values):
        return left
    return left + sum_along_the_tree(values, middle, size // 2)


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 10, 64, 245])
def test_sums_over_blocks_do_not_depend_on_the_cuts(n_blocks):
    rng = np.random.default_rng(n_blocks)
    values = rng.normal(size=(n_blocks, 3))
    whole = sum_along_the_tree(values, 0, 1 << (n_blocks - 1).bit_length())
    for n_runs in range(1, min(n_blocks, 6) + 1):
        cuts = sorted({0, n_blocks, *rng.integers(0, n_blocks + 1, size=n_runs - 1).tolist()})
        parts = []
        for first, end in zip(cuts[:-1], cuts[1:], strict=True):
            pieces = _pieces(first, end, n_blocks)
            sums = [sum_along_the_tree(values, begin, size) for begin, size in pieces]
            parts.append((pieces, np.array(sums)))
        some = join_sums(parts[::2], n_blocks)  # joined in two places, as where there are many
        pieces, sums = join_sums([some, *parts[1::2]], n_blocks)
        assert len(pieces) == 1
        np.testing.assert_array_equal(sums[0], whole)


@pytest.mark.parametrize("n_rows", [1, 63, 65, 1000, 123_457, 10_000_001])
@pytest.mark.parametrize("n_workers", [1, 2, 3, 50])
def test_runs_hold_all_blocks(n_rows, n_workers):
    runs = cut_into_runs(n_rows, n_workers)
    assert runs[0].first == 0
    assert [run.first for run in runs[1:]] == [run.end for run in runs[:-1]]
    assert runs[-1].rows(n_rows)[1] == n_rows
    lengths = np.array([run.end - run.first for run in runs])
    assert np.all(lengths > 0)
    if n_rows // rows_of_a_block(n_rows) > 16 * n_workers:
        assert lengths.max() <= 1.2 * lengths.mean()
