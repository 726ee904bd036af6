"""Workers that die while boosted oblique trees grow, sums over blocks, and errors on the way."""

import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da  # noqa: E402

from fctree import CurvatureTreeRegressor  # noqa: E402
from fctree._native import oblique_rounds  # noqa: E402
from fctree.dask import DaskCurvatureBoostingRegressor  # noqa: E402
from fctree.dask.oblique_growth import ObliqueGrowth  # noqa: E402
from fctree.dask.row_blocks import _pieces, cut_into_runs, join, rows_of_a_block  # noqa: E402
from fctree.oblique.parameters import native_tree_params  # noqa: E402
from optional.dask_cluster import two_processes  # noqa: E402

PARAMS = {"max_iter": 3, "random_state": 0, "step_depth": 2}


@pytest.fixture(autouse=True)
def client():
    """A cluster a test: a worker that was killed may take long to come back, or not come."""
    with two_processes() as client:
        yield client


def draw():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=300)


def fit():
    X, y = draw()
    return DaskCurvatureBoostingRegressor(**PARAMS).fit(
        da.from_array(X, chunks=(100, 5)), da.from_array(y, chunks=100)
    )


def dying_in(step, note):
    """Makes a process end in its second step of this name, unless one has died of it before.

    Made here, so that it goes to the workers as code: they cannot import the tests.
    """

    def prepare():
        from fctree.dask.oblique_shard import ObliqueShard

        take, calls = ObliqueShard.step, []

        def take_and_die(self, method, arguments):
            if method == step:
                calls.append(method)
                if len(calls) == 2 and not os.path.exists(note):
                    open(note, "w").close()
                    os.kill(os.getpid(), signal.SIGKILL)
            return take(self, method, arguments)

        ObliqueShard.step = take_and_die

    return prepare


@pytest.mark.parametrize(("step", "which"), [("residual_products", 0), ("decreases", 1)])
def test_a_worker_killed_inside_a_tree_changes_nothing(client, monkeypatch, tmp_path, step, which):
    whole = fit()
    anew, calls = ObliqueGrowth.grow_anew, []

    def count(self):
        calls.append(len(self.trees))
        return anew(self)

    monkeypatch.setattr(ObliqueGrowth, "grow_anew", count)
    worker = sorted(client.nthreads())[which]
    client.run(dying_in(step, str(tmp_path / "died")), workers=[worker])
    model = fit()
    assert calls  # a round was grown again
    for name, array in vars(whole.trees_).items():
        assert getattr(model.trees_, name).tobytes() == array.tobytes(), name
    assert model.train_score_.tobytes() == whole.train_score_.tobytes()


def test_nothing_is_left_on_the_workers(client):
    fit()

    def remembered():
        from fctree.dask import state

        return len(state._STATES)

    assert set(client.run(remembered).values()) == {0}


class Stopped(BaseException):
    """As Ctrl-C is: no Exception."""


def test_an_error_in_an_answer_ends_the_tree():
    X, y = draw()
    settings = CurvatureTreeRegressor()._settings()
    params = native_tree_params(settings, 300, impurity_scale=1.0)

    def stop(step, arguments):
        raise Stopped(step)

    with pytest.raises(Stopped, match="products"):
        oblique_rounds.grow(
            (X, y[:, np.newaxis], np.ones(300)), 300, params=params,
            feature_map=(np.arange(5), np.zeros(5), np.ones(5)), ask=stop, bins=None,
            n_threads=1,
        )


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
        some = join(parts[::2], n_blocks)  # joined in two places, as where there are many
        pieces, sums = join([some, *parts[1::2]], n_blocks)
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
