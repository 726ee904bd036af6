"""Ctrl-C during boosting, in processes of their own.

Bounds are generous: they tell a hang from an end, and do not measure speed.
"""

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from fctree._training.progress import progress_listener

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")

LONG_FIT = """
import os, sys
import numpy as np
from fctree import SymmetricBoostingRegressor

n_jobs, verbose, how = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
X = rng.standard_normal((20_000, 20))
y = np.abs(X).sum(axis=1)
model = SymmetricBoostingRegressor(max_iter=3, n_jobs=n_jobs, random_state=0)
if how != "fresh":
    model.fit(X[:500], y[:500])
    model.set_params(warm_start=how == "warm")
before = {name: value for name, value in vars(model).items() if name.endswith("_")}
expected = model.predict(X) if before else None
model.set_params(max_iter=10**8, verbose=verbose)
os.write(1, b"ready\\n")
try:
    model.fit(X, y)
    os.write(1, b"ended\\n")
except KeyboardInterrupt:
    after = {name: value for name, value in vars(model).items() if name.endswith("_")}
    same = after.keys() == before.keys() and all(after[k] is before[k] for k in before)
    if before:
        same = same and np.array_equal(model.predict(X), expected)
    os.write(1, b"as before\\n" if same else b"changed\\n")
# What follows an interrupt works as usual.
again = SymmetricBoostingRegressor(max_iter=3, n_jobs=n_jobs, random_state=0)
again.fit(X[:500], y[:500])
if before:
    model.set_params(max_iter=3, warm_start=False, verbose=0).fit(X[:500], y[:500])
    assert np.array_equal(model.predict(X), again.predict(X))
os.write(1, b"usable\\n")
"""


@pytest.mark.parametrize("n_jobs, verbose, how", [
    (1, 0, "refit"), (2, 0, "warm"), (2, 1, "refit"), (1, 2, "fresh"),
])
def test_interrupting_leaves_the_estimator_as_it_was(n_jobs, verbose, how, tmp_path):
    arguments = [sys.executable, "-c", LONG_FIT, str(n_jobs), str(verbose), how]
    with open(tmp_path / "errors", "w+") as errors, subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            lines = []
            for line in process.stdout:  # and the lines of verbose=2
                lines.append(line.strip())
                if line in ("as before\n", "changed\n", "ended\n"):
                    seconds = time.monotonic() - sent
            process.wait(timeout=60)
        finally:
            process.kill()
        errors.seek(0)
        told = errors.read()
    assert [line for line in lines if not line.startswith("[")] == ["as before", "usable"], told
    assert any(line.startswith("[1] train loss") for line in lines) == (verbose == 2)
    assert ("train loss" in told) == (verbose == 1)
    assert seconds < 5


def test_a_line_of_progress_is_one_write(monkeypatch):
    # Where standard output is not buffered, an interrupt can fall between two writes.
    written = []
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(write=written.append, flush=lambda: None))
    with progress_listener(2, 2, "fit") as show:
        show(0, 0.5, 0.25)
        show(1, 0.25, float("nan"))
    assert [text for text in written if text] == [
        "[1] train loss 0.5, validation loss 0.25\n", "[2] train loss 0.25\n",
    ]


LONG_IMPORTANCE = """
import os, sys
import numpy as np
from fctree import SymmetricBoostingRegressor
from fctree.inspection import shapley_importance

rng = np.random.default_rng(0)
X = rng.standard_normal((4_000, 12))
y = np.abs(X).sum(axis=1)
# 4,096 continuations that patience does not end.
model = SymmetricBoostingRegressor(max_iter=10_000, n_iter_no_change=1, learning_rate=0.5)
os.write(1, b"ready\\n")
try:
    shapley_importance(model, X, y, min_iter=10**6, n_jobs=int(sys.argv[1]), random_state=0)
    os.write(1, b"ended\\n")
except KeyboardInterrupt:
    os.write(1, b"interrupted\\n")
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupting_importances(n_jobs):
    arguments = [sys.executable, "-c", LONG_IMPORTANCE, str(n_jobs)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            assert process.stdout.readline() == "interrupted\n"
            assert time.monotonic() - sent < 5
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
