"""Ctrl-C while something large is computed at once: factors, eigenvectors, sides of cuts, weights, kernels' systems.

Bounds are generous: a second is promised on a free machine, and what is not divided into steps takes
tens of seconds here.
"""

import os

import pytest
from interrupts import assert_interrupted

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")

FIT = """
import numpy as np
from fctree import CurvatureTreeRegressor, FCODTRegressor, SoftTreeRegressor
from fctree import TreeNTKRegressor, TreeNTKRegressorCV

X = np.random.default_rng(0).standard_normal(({n}, {d}))
y = np.abs(X[:, :5]).sum(axis=1)
model = {model}
print("ready", flush=True)
try:
    while True:
        model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("n, d, model, wait", [
    (1300, 1200, "CurvatureTreeRegressor(max_depth=2)", 2.5),
    (2000, 2500, "FCODTRegressor(alpha='loo', max_depth=1)", 2.0),
    (100, 40_000, "SoftTreeRegressor(n_trees=32, depth=6)", 0.7),
    (11_000, 5, "TreeNTKRegressor(depth=1)", 4.0),
    (6000, 5, "TreeNTKRegressorCV(depths=[1], scales=[1.0])", 2.0),
    (300, 4000, "TreeNTKRegressor(depth=1, feature_learning=1)", 2.5),
    (9000, 5, "TreeNTKRegressorCV(depths=[1], scales=[1.0], cv=2, n_jobs=2)", 4.0),
])
def test_large_steps_hear_an_interrupt(n, d, model, wait):
    assert_interrupted(FIT.format(n=n, d=d, model=model), wait=wait)
