"""Ctrl-C during fits that last, and during importances, in processes of their own.

Bounds are generous: they tell a hang from an end, and do not measure speed.
"""

import json
import os

import pytest
from interrupts import SECONDS, assert_interrupted, interrupt
from scripts import Script

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")

LONG_FIT = """
import json, os, sys
import numpy as np
import fctree

name, size, rows, how, settings = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.standard_normal((rows, 10))
y = np.abs(X).sum(axis=1)
short = getattr(fctree, name)(n_jobs=settings["n_jobs"], random_state=0, **{size: 3})
model = type(short)(**short.get_params())
expected = short.fit(X[:500], y[:500]).predict(X)
if how != "fresh":
    model.fit(X[:500], y[:500])
if how == "warm":
    model.set_params(warm_start=True)
model.set_params(**settings, **{size: 10**7})
before = dict(vars(model))
os.write(1, b"ready\\n")
try:
    model.fit(X, y)
    os.write(1, b"ended\\n")
except KeyboardInterrupt:
    after = vars(model)
    same = after.keys() == before.keys() and all(after[k] is v for k, v in before.items())
    if how != "fresh":
        same = same and np.array_equal(model.predict(X), expected)
    os.write(1, b"as before\\n" if same else b"changed\\n")
# What follows an interrupt works as usual.
model.set_params(**short.get_params()).fit(X[:500], y[:500])
os.write(1, b"usable\\n" if np.array_equal(model.predict(X), expected) else b"broken\\n")
"""


@pytest.mark.parametrize("name, size, rows, how, settings", [
    ("CurvatureBoostingRegressor", "max_iter", 4000, "refit", {"n_jobs": 2}),
    ("CurvatureForestRegressor", "n_estimators", 4000, "refit", {"n_jobs": 2}),
    ("CurvatureForestRegressor", "n_estimators", 100_000, "refit", {"n_jobs": 2}),
    ("SymmetricBoostingRegressor", "max_iter", 20_000, "refit", {"n_jobs": 1}),
    ("SymmetricBoostingRegressor", "max_iter", 20_000, "warm", {"n_jobs": 2}),
    ("SymmetricBoostingRegressor", "max_iter", 20_000, "refit", {"n_jobs": 2, "verbose": 1}),
    ("SymmetricBoostingRegressor", "max_iter", 20_000, "fresh", {"n_jobs": 1, "verbose": 2}),
    ("SoftTreeRegressor", "max_epochs", 5000, "warm", {"n_jobs": 1}),
    ("SoftTreeRegressor", "max_epochs", 5000, "warm", {"n_jobs": 2, "verbose": 1}),
])
def test_interrupting_leaves_the_estimator_as_it_was(name, size, rows, how, settings):
    with Script(LONG_FIT, json.dumps([name, size, rows, how, settings])) as process:
        progress = []
        line, seconds = interrupt(process, 0.5, progress)
        lines = [line, process.stdout.readline().strip()]
        process.wait()
        told = process.errors()
    assert lines == ["as before", "usable"], told
    verbose = settings.get("verbose", 0)
    assert any(line.startswith("[1] train loss") for line in progress) == (verbose == 2)
    assert ("train loss" in told) == (verbose == 1)
    assert seconds < SECONDS


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
print("at its end")
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupting_importances(n_jobs):
    assert_interrupted(LONG_IMPORTANCE, n_jobs, then="at its end")


LONG_DISTILLATION = """
import os
import numpy as np
from fctree import CurvatureTreeRegressor
from fctree.inspection import distill

X = np.random.default_rng(0).standard_normal((60_000, 20))  # whose neighbours take half a minute to find
teacher = CurvatureTreeRegressor().fit(X[:500], X[:500, 0])
os.write(1, b"ready\\n")
try:
    distill(teacher, X, random_state=0)
    os.write(1, b"ended\\n")
except KeyboardInterrupt:
    os.write(1, b"interrupted\\n")
"""


def test_interrupting_a_distillation():
    assert_interrupted(LONG_DISTILLATION)
