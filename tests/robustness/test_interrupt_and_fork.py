"""Ctrl-C during a fit, and processes made by fork() after a parallel fit.

Each case runs in processes of its own. Bounds are generous: they tell a hang from an end,
and do not measure speed.
"""

import os
import threading

import numpy as np
import pytest
from fctree import TreeNTKRegressor
from fctree._tables.sums import TablePart
from fctree._training.target_units import TargetUnits
from fctree.ensembles.forest_samples import ForestSamples
from interrupts import assert_interrupted
from scripts import Script

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and fork of POSIX systems")


LONG_FIT = """
import sys
import numpy as np
from fctree import FCODTRegressor

rng = np.random.default_rng(0)
n_jobs, refit = int(sys.argv[1]), sys.argv[2] == "refit"
X = rng.standard_normal((60_000, 300))
y = np.abs(X).sum(axis=1)
small, long = (X[:500, :5], y[:500]), (X, y)
parameters = {"max_depth": 14, "min_samples_leaf": 5, "n_jobs": n_jobs}
before = FCODTRegressor(**parameters).fit(*small).predict(X[:10, :5])
print("ready", flush=True)
try:
    while True:  # a fast machine may end some fits before the signal comes
        model = FCODTRegressor(**parameters)
        if refit:
            model.fit(*small)
        model.fit(*long)
except KeyboardInterrupt:
    if refit:
        kept = np.array_equal(model.predict(X[:10, :5]), before)
        print("as before" if kept else "changed", flush=True)
    else:
        print("fitted" if hasattr(model, "tree_") else "unfitted", flush=True)
    # What follows an interrupt works as usual.
    model.set_params(max_depth=2).fit(X[:500], y[:500])
    print("usable")
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupting_leaves_the_estimator_unfitted(n_jobs):
    assert_interrupted(LONG_FIT, n_jobs, "fresh", wait=0.7, says="unfitted", then="usable")


def test_interrupting_leaves_the_last_fit_in_place():
    assert_interrupted(LONG_FIT, 2, "refit", wait=0.7, says="as before", then="usable")


FORK_AFTER_FIT = """
import os, signal, sys
import numpy as np
from fctree import FCODTRegressor

n_features, in_parent, in_child = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
X = rng.standard_normal((10_000, n_features))
y = np.abs(X).sum(axis=1)
expected = FCODTRegressor(n_jobs=in_parent).fit(X, y).predict(X)
child = os.fork()
if child == 0:
    signal.alarm(60)  # ends a child that hangs
    same = np.array_equal(FCODTRegressor(n_jobs=in_child).fit(X, y).predict(X), expected)
    os._exit(0 if same else 3)
_, status = os.waitpid(child, 0)
again = FCODTRegressor(n_jobs=2).fit(X, y).predict(X)
print("child", os.waitstatus_to_exitcode(status), "parent", np.array_equal(again, expected))
"""

FORK_POOL = """
import multiprocessing
import numpy as np
from fctree import FCODTRegressor

rng = np.random.default_rng(0)
X = rng.standard_normal((20_000, 8))
y = np.abs(X).sum(axis=1)

def depth_of(max_depth):
    return FCODTRegressor(max_depth=max_depth, n_jobs=2).fit(X, y).get_depth()

FCODTRegressor(n_jobs=2).fit(X, y)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(depth_of, [1, 2, 3, 4]))
"""


def run(script, *arguments):
    with Script(script, *arguments) as process:
        # A hang would last for ever; the script itself takes a few seconds.
        assert process.wait(120) == 0, process.errors()
        return process.stdout.read().strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("n_features, in_parent, in_child", [(10, 2, 2), (200, 1, 1), (200, 2, 1)])
def test_a_forked_child_fits_the_same_tree(n_features, in_parent, in_child):
    assert run(FORK_AFTER_FIT, n_features, in_parent, in_child) == "child 0 parent True"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_pool_of_forked_workers():
    assert run(FORK_POOL) == "[1, 2, 3, 4]"


LONG_KERNEL = """
import sys
import numpy as np
from fctree.kernels import relu_ntk

X = np.random.default_rng(0).standard_normal((6000, 20))
print("ready", flush=True)
try:
    while True:
        relu_ntk(X, depth=1000, n_jobs=int(sys.argv[1]))
except KeyboardInterrupt:
    print("stopped" if relu_ntk(X[:5]).shape == (5, 5) else "broken")
"""


LONG_LANDMARKS = """
import sys
import numpy as np
from fctree import TreeNTKRegressor

X = np.random.default_rng(0).standard_normal((60_000, 20))
print("ready", flush=True)
try:
    while True:
        TreeNTKRegressor(solver="nystrom", n_components=3000, n_jobs=int(sys.argv[1])).fit(X, X[:, 0])
except KeyboardInterrupt:
    model = TreeNTKRegressor(solver="nystrom", alpha=1.0).fit(X[:50], X[:50, 0])
    print("stopped" if model.predict(X[:5]).shape == (5,) else "broken")
"""


@pytest.mark.parametrize("code, wait, n_jobs", [
    (LONG_KERNEL, 0.7, 1), (LONG_KERNEL, 0.7, 2), (LONG_LANDMARKS, 0.7, 2), (LONG_LANDMARKS, 4.0, 1)])
def test_interrupting_kernels(code, wait, n_jobs):
    assert_interrupted(code, n_jobs, wait=wait, says="stopped")


def test_a_fork_during_a_fit_leaves_no_lock_behind():
    """Of numbers that parts of a table keep: `functools.cached_property` has a lock on Python 3.10 and 3.11."""
    part = TablePart(np.ones((4, 2)), np.ones((1, 4)), None)
    assert part._extents is part._extents
    assert not any(hasattr(vars(TablePart)[name], "lock") for name in ("weights", "_extents", "folds"))


def test_forests_of_two_threads_share_no_lock():
    """Such as that of `functools.cached_property` on Python 3.10 and 3.11, which a fork meanwhile would leave locked in its child."""
    inside, over = threading.Event(), threading.Event()

    class Waiting:
        @property
        def of_outputs(self):
            inside.set()
            over.wait(60)
            return np.ones(1)

    def divide(units):
        return ForestSamples(np.ones((4, 1)), np.ones((4, 1)), None, units).in_units

    first = threading.Thread(target=divide, args=(Waiting(),))
    second = threading.Thread(target=divide, args=(TargetUnits(np.ones(1)),))
    first.start()
    assert inside.wait(60)
    second.start()
    second.join(10)
    waits = second.is_alive()
    over.set()
    first.join()
    assert not waits


def test_kernels_are_computed_where_no_thread_can_be_started(monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 3))
    expected = TreeNTKRegressor(solver="nystrom", n_components=20, n_jobs=2, random_state=0).fit(X, X[:, 0]).predict(X)

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    model = TreeNTKRegressor(solver="nystrom", n_components=20, n_jobs=2, random_state=0).fit(X, X[:, 0])
    np.testing.assert_array_equal(model.predict(X), expected)
