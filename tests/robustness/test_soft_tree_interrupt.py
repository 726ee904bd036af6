"""Ctrl-C while soft trees are trained, in processes of their own.

Bounds are generous: they tell a hang from an end, and do not measure speed.
"""

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")

LONG_FIT = """
import os, sys
import numpy as np
from fctree import SoftTreeRegressor

n_jobs, verbose = int(sys.argv[1]), int(sys.argv[2])
X = np.random.default_rng(0).standard_normal((5_000, 20))
y = np.abs(X).sum(axis=1)
model = SoftTreeRegressor(max_epochs=2, n_jobs=n_jobs, random_state=0).fit(X, y)
before, expected = vars(model).copy(), model.predict(X)
model.set_params(max_epochs=10**8, verbose=verbose, warm_start=True)
os.write(1, b"ready\\n")
try:
    model.fit(X, y)
    os.write(1, b"ended\\n")
except KeyboardInterrupt:
    same = model._state is before["_state"] and model.loss_curve_ is before["loss_curve_"]
    same = same and np.array_equal(model.predict(X), expected)
    os.write(1, b"as before\\n" if same else b"changed\\n")
"""


@pytest.mark.parametrize(("n_jobs", "verbose"), [(1, 0), (2, 1)])
def test_interrupting_leaves_the_estimator_as_it_was(n_jobs, verbose):
    arguments = [sys.executable, "-c", LONG_FIT, str(n_jobs), str(verbose)]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            told, errors = process.communicate(timeout=60)
            seconds = time.monotonic() - sent
        finally:
            process.kill()
    assert told == "as before\n", errors
    assert ("train loss" in errors) == (verbose == 1)
    assert seconds < 10
