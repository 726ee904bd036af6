"""Long steps that Ctrl-C ends, threads at exit, more threads than there can be, and wide tables.

Each case runs in a process of its own. Bounds of time are generous: they tell a hang from an end.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from interrupts import assert_interrupted
from scripts import Script
from fctree import SymmetricBoostingRegressor

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX systems")

LONG = """
import sys
import numpy as np
from fctree import CurvatureTreeRegressor, FCODTRegressor, SymmetricBoostingRegressor

name, n_jobs = sys.argv[1], int(sys.argv[2])
n, d = {"dual": (2500, 4000), "loo": (2500, 2000), "moments": (20000, 2000),
        "curvature": (3500, 1500), "thresholds": (400000, 150)}[name]
X = np.random.default_rng(0).standard_normal((n, d))
y = X[:, 0] + X[:, 1] ** 2
parameters = {"dual": {}, "moments": {"max_depth": 6}, "loo": {"alpha": "loo", "max_depth": 1},
              "curvature": {"directions": "curvature", "max_depth": 3}}
if name == "thresholds":
    model = SymmetricBoostingRegressor(max_iter=10**6, n_jobs=n_jobs)
else:
    cls = CurvatureTreeRegressor if name == "curvature" else FCODTRegressor
    model = cls(n_jobs=n_jobs, **parameters[name])
print("ready", flush=True)
try:
    while True:
        model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(bool(os.environ.get("FCTREE_SANITIZED")), reason="sanitizers take minutes")
@pytest.mark.parametrize("name, n_jobs", [
    ("dual", 1), ("loo", 2), ("moments", 1), ("moments", 2), ("curvature", 1), ("thresholds", 2)])
def test_long_steps_can_be_interrupted(name, n_jobs):
    assert_interrupted(LONG, name, n_jobs)


def output(script, *arguments):
    with Script(script, *arguments) as process:
        assert process.wait(600 if os.environ.get("FCTREE_SANITIZED") else 100) == 0, process.errors()
        return process.stdout.read().strip()


def assert_ended(script, *arguments):
    """The interpreter itself ends, which a copy of a process does not wait for."""
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "main thread ends\n"


DAEMON = """
import sys, threading, time
import numpy as np
from fctree import SoftTreeRegressor, SymmetricBoostingRegressor
X = np.random.default_rng(0).standard_normal((5000, 10)); y = X[:, 0]
model = {
    "symmetric": SymmetricBoostingRegressor(max_iter=10**6, n_jobs=2),
    "listener": SymmetricBoostingRegressor(max_iter=10**6),
    "soft": SoftTreeRegressor(max_epochs=10**6),
}[sys.argv[1]]
told = {"callbacks": lambda *round: None} if sys.argv[1] == "listener" else {}
threading.Thread(target=lambda: model.fit(X, y, **told), daemon=True).start()
time.sleep(1.0)
print("main thread ends", flush=True)
"""


@pytest.mark.parametrize("name", ["symmetric", "listener", "soft"])
def test_a_fit_in_a_daemon_thread_ends_with_the_process(name):
    assert_ended(DAEMON, name)


DAEMON_OF_MANY_PLACES = """
import threading, time
import numpy as np
from fctree import SymmetricBoostingRegressor
from fctree._native import core, symmetric
X = np.random.default_rng(0).standard_normal((5000, 10)); y = X[:, 0]
model = SymmetricBoostingRegressor(max_iter=1, random_state=0).fit(X, y)
places = core.Places(lambda *arrays: time.sleep(0.01), 0, 1)
threading.Thread(target=lambda: symmetric.boost(
    ([X], y[None], None, None, None, [0]), [], thresholds=model.bin_thresholds_, monotone=None, baseline=None,
    loss=("squared_error", 0.0), n_outputs=1, first_iteration=0, params=model._native_params(10**6), listener=None,
    n_threads=2, places=places), daemon=True).start()
time.sleep(1.0)
print("main thread ends", flush=True)
"""


def test_a_part_of_a_fit_in_a_daemon_thread_ends_with_the_process():
    assert_ended(DAEMON_OF_MANY_PLACES)


MANY_THREADS = """
import sys
import numpy as np
from fctree import SymmetricBoostingRegressor
X = np.random.default_rng(0).standard_normal((20000, 20)); y = X[:, 0]
expected = SymmetricBoostingRegressor(max_iter=2, random_state=0).fit(X, y).predict(X)
model = SymmetricBoostingRegressor(max_iter=2, random_state=0, n_jobs=int(sys.argv[1])).fit(X, y)
print(np.array_equal(model.predict(X), expected))
"""


@pytest.mark.parametrize("n_jobs", [10**6, 2**70])
def test_more_threads_than_can_be_started(n_jobs):
    assert output(MANY_THREADS, n_jobs) == "True"


PEAK = """
import resource, sys
import numpy as np
import fctree
name, parameters, n, d = sys.argv[1], eval(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
X = np.random.default_rng(0).standard_normal((n, d))
y = np.arange(n) % 3 if name.endswith("Classifier") else X[:, 0]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
getattr(fctree, name)(**parameters).fit(X, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.skipif(bool(os.environ.get("FCTREE_SANITIZED")), reason="sanitizers take memory")
@pytest.mark.parametrize(
    "name, parameters, n, d",
    [
        ("SymmetricBoostingRegressor", {"max_iter": 2}, 300, 8000),
        ("SymmetricBoostingClassifier", {"max_iter": 2}, 300, 8000),
        ("SymmetricBoostingRegressor", {"max_iter": 2, "max_depth": 14}, 2000, 20),
        ("CurvatureTreeRegressor", {"max_coef": 3, "max_depth": 1}, 200, 8000),
        ("CurvatureBoostingRegressor", {"max_iter": 1}, 200, 8000),
    ],
)
def test_memory_of_wide_tables(name, parameters, n, d):
    # Four times the table and 200 MB, the table itself not counted.
    assert float(output(PEAK, name, parameters, n, d)) < 3 * n * d * 8 / 2**20 + 200


LONG_TABLE = """
import resource, sys
import numpy as np
from fctree import CurvatureBoostingRegressor
n, d = 600_000, 20
random = np.random.default_rng(0)
mapped = np.memmap(sys.argv[1], dtype=np.float32, mode="w+", shape=(n, d))
mapped[:] = random.standard_normal((n, d), dtype=np.float32)
y = mapped @ random.uniform(1.0, 2.0, d).astype(np.float32)  # which takes all features
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
CurvatureBoostingRegressor(max_iter=1, step_depth=3, random_state=0).fit(mapped, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / n)
"""


@pytest.mark.skipif(bool(os.environ.get("FCTREE_SANITIZED")), reason="sanitizers take memory")
def test_memory_of_long_tables(tmp_path):
    # Bytes a row: a float64 copy of the features alone is 160.
    assert float(output(LONG_TABLE, tmp_path / "table")) < 160


def test_histograms_that_are_not_kept_give_the_same_splits():
    """Trees of 16 levels count each level anew, those of 4 levels keep their histograms: up to
    there, splits are the same."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 12))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X) @ rng.standard_normal(12) + rng.standard_normal(3000)
    for score_function in ("l2", "cosine"):
        shallow, deep = (
            SymmetricBoostingRegressor(
                max_iter=1, max_depth=depth, random_state=0, score_function=score_function
            ).fit(X, y).trees_
            for depth in (4, 16)
        )
        for name in ("split_feature", "split_threshold", "missing_right", "split_gain"):
            np.testing.assert_array_equal(getattr(deep, name)[:, :4], getattr(shallow, name))
