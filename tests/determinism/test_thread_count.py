"""`n_jobs` is the number of threads: one means that no thread is ever started.

Counted in a process of its own (the kernel lists its threads), after imports, by a thread that
looks again and again during a fit and predict that is wide enough for any library below to be
tempted. A thread that has done its work is listed until the system lets it end, so that the number of threads
is the least of many looks in a row; that there are any is known from one look.
"""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import collections, os, sys, threading, time
import numpy as np
from fctree import FCODTRegressor

def n_threads():
    return len(os.listdir("/proc/self/task"))

rng = np.random.default_rng(0)
X = rng.standard_normal((3000, 250))
y = np.abs(X).sum(axis=1)
most, seen, done = 0, 0, threading.Event()

def watch():
    global most, seen
    counts = collections.deque(maxlen=40)
    while not done.wait(0.0005):
        counts.append(n_threads())
        seen = max(seen, counts[-1])
        most = max(most, min(counts)) if len(counts) == counts.maxlen else most

watcher = threading.Thread(target=watch)
watcher.start()
before = n_threads()
for _ in range(10):  # a busy machine may not let the watcher look during the first
    FCODTRegressor(max_depth=4, n_jobs=int(sys.argv[1])).fit(X, y).predict(X)
    if seen > before:
        break
# A leaf with fewer samples than features has its own solver.
FCODTRegressor(max_depth=1, n_jobs=int(sys.argv[1])).fit(X[:100], y[:100])
done.set()
watcher.join()
for _ in range(500):
    if n_threads() < before:
        break
    time.sleep(0.01)
print(int(seen > before), max(most - before, 0), n_threads() - before + 1)
"""

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/task"),
                                reason="needs Linux's list of threads")


def threads_started(n_jobs):
    """Whether threads were started beside the caller's, how many during the calls and after them."""
    # More cores than one, whatever the environment of the tests says.
    environment = {**os.environ, "OMP_NUM_THREADS": "4"}
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(n_jobs)], env=environment,
                          capture_output=True, text=True, check=True, timeout=120)
    return tuple(map(int, done.stdout.split()))


def test_one_job_starts_no_thread():
    assert threads_started(1) == (0, 0, 0)


def test_three_jobs_start_no_more_than_two_threads():
    # Fewer where the work is not cut into three parts.
    any_started, during, after = threads_started(3)
    assert any_started and during <= 2
    assert after == 0


def test_a_million_jobs_are_as_many_as_are_of_use():
    any_started, during, after = threads_started(10**6)
    assert any_started and during <= max(64, 4 * os.cpu_count())
    assert after == 0
