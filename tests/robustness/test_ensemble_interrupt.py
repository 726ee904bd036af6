"""Ctrl-C while an ensemble of oblique trees is grown, in processes of their own.

Bounds are generous: they tell a hang from an end, and do not measure speed.
"""

import os
import subprocess
import sys

import pytest
from interrupts import SECONDS, interrupt

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")

LONG_FIT = """
import os, sys
import numpy as np
import fctree

name, size, n_jobs, rows = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rng = np.random.default_rng(0)
X = rng.standard_normal((rows, 10))
y = np.abs(X).sum(axis=1)
model = getattr(fctree, name)(n_jobs=n_jobs, random_state=0, **{size: 3}).fit(X[:500], y[:500])
before, expected = dict(vars(model)), model.predict(X)
model.set_params(**{size: 10**7})
os.write(1, b"ready\\n")
try:
    model.fit(X, y)
    os.write(1, b"ended\\n")
except KeyboardInterrupt:
    same = all(vars(model)[k] is v for k, v in before.items() if k != size)
    same = same and np.array_equal(model.predict(X), expected)
    os.write(1, b"as before\\n" if same else b"changed\\n")
model.set_params(**{size: 3}).fit(X[:500], y[:500])
os.write(1, b"usable\\n" if np.array_equal(model.predict(X), expected) else b"broken\\n")
"""


@pytest.mark.parametrize("name, size, n_jobs, rows", [
    ("CurvatureBoostingRegressor", "max_iter", 2, 4000),
    ("CurvatureForestRegressor", "n_estimators", 2, 4000),
    ("CurvatureForestRegressor", "n_estimators", 2, 100_000),
])
def test_interrupting_leaves_the_estimator_as_it_was(name, size, n_jobs, rows, tmp_path):
    arguments = [sys.executable, "-c", LONG_FIT, name, size, str(n_jobs), str(rows)]
    with open(tmp_path / "errors", "w+") as errors, subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        try:
            line, seconds = interrupt(process, 0.5)
            lines = [line, process.stdout.readline().strip()]
            process.wait(timeout=60)
        finally:
            process.kill()
        errors.seek(0)
        told = errors.read()
    assert lines == ["as before", "usable"], told
    assert seconds < SECONDS
