"""`n_jobs` is the number of threads: one means that no thread is ever started.

Counted in a process of its own (the kernel lists its threads), after imports, around one
fit and predict that is wide enough for any library below to be tempted.
"""

import os
import subprocess
import sys

import fctree
import pytest

SCRIPT = """
import os, sys
import numpy as np
from fctree import FCODTRegressor

def n_threads():
    return len(os.listdir("/proc/self/task"))

rng = np.random.default_rng(0)
X = rng.standard_normal((3000, 250))
y = np.abs(X).sum(axis=1)
before = n_threads()
FCODTRegressor(max_depth=4, n_jobs=int(sys.argv[1])).fit(X, y).predict(X)
# A leaf with fewer samples than features has its own solver.
FCODTRegressor(max_depth=1, n_jobs=int(sys.argv[1])).fit(X[:100], y[:100])
print(n_threads() - before)
"""

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/task"),
                                reason="needs Linux's list of threads")


def threads_started(n_jobs):
    # More cores than one, whatever the environment of the tests says.
    environment = {**os.environ, "OMP_NUM_THREADS": "4"}
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(n_jobs)], env=environment,
                          capture_output=True, text=True, check=True, timeout=120)
    return int(done.stdout)


def test_one_job_starts_no_thread():
    assert threads_started(1) == 0


def test_three_jobs_start_no_more_than_two_threads():
    if not fctree.show_config()["openmp"]:
        pytest.skip("built without OpenMP")
    # Fewer where the work is not cut into three parts.
    assert 1 <= threads_started(3) <= 2
