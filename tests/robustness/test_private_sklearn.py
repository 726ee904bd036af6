"""fctree without the private names of scikit-learn that it uses where they exist."""

import subprocess
import sys
from numbers import Integral, Real

import numpy as np
import pandas as pd
import pytest
from fctree import _sklearn_replacements as replaced
from fctree import SymmetricBoostingRegressor, _sklearn

BLOCKED = """
import sys
import sklearn.base, sklearn.gaussian_process, sklearn.linear_model, sklearn.metrics
import sklearn.model_selection, sklearn.preprocessing, sklearn.tree, sklearn.utils.class_weight
import sklearn.utils.estimator_checks, sklearn.utils.multiclass, sklearn.utils.validation
import types
known = types.ModuleType("sklearn.utils.validation")
vars(known).update(vars(sklearn.utils.validation))
for name in ("_check_monotonic_cst", "_check_sample_weight", "_get_feature_names"):
    delattr(known, name)
sys.modules["sklearn.utils.validation"] = known
sys.modules["sklearn.utils._param_validation"] = None
import numpy as np
import fctree, fctree._sklearn
assert fctree._sklearn.Interval.__module__ == "fctree._sklearn_replacements"
from fctree import CurvatureTreeClassifier, SoftTreeRegressor, SymmetricBoostingRegressor, TreeNTKRegressorCV
rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = X[:, 0] ** 2
tree = CurvatureTreeClassifier().fit(X, y > 1, sample_weight=np.ones(80))
SoftTreeRegressor(max_epochs=1).fit(X, y)
TreeNTKRegressorCV(alphas=(0.1,), depths=(1,), scales=(1.0,)).fit(X, y)
plain = SymmetricBoostingRegressor(max_iter=5, monotonic_cst=[0, 1, 0], random_state=0)
print(plain.fit(X, y, sample_weight=np.arange(80)).predict(X).sum().hex())
for bad in ({"max_iter": 0}, {"max_iter": 1.5}, {"learning_rate": 0}, {"subsample": 1.1},
            {"warm_start": "yes"}, {"loss": "none"}, {"random_state": "x"},
            {"monotonic_cst": [2, 0, 0]}, {"monotonic_cst": [1]}, {"monotonic_cst": {"z": 1}}):
    try:
        SymmetricBoostingRegressor(**bad).fit(X, y)
    except ValueError as error:
        assert next(iter(bad)) in str(error), error
    else:
        raise AssertionError(bad)
try:
    fctree.datasets.make_ridge_relu(n_samples=0)
except ValueError as error:
    assert "n_samples" in str(error)
"""


def test_fits_are_the_same_without_them():
    found = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    plain = SymmetricBoostingRegressor(max_iter=5, monotonic_cst=[0, 1, 0], random_state=0)
    plain.fit(X, X[:, 0] ** 2, sample_weight=np.arange(80))
    assert found.stdout.split() == [plain.predict(X).sum().hex()]


VALUES = [0, 1, 2, -1, 0.0, 0.5, 1.0, 2.5, np.nan, np.inf, -np.inf, None, True, "a", "b", [1],
          np.int64(1), np.float32(0.5), np.float64(1.0), (), object(), 10**30]


@pytest.mark.parametrize("closed", ["left", "right", "both", "neither"])
@pytest.mark.parametrize("number", [Integral, Real, "RealNotInt"])
@pytest.mark.parametrize("bounds", [(0, 1), (0, None), (None, 2), (None, None)])
def test_ranges_hold_what_scikit_learns_hold(closed, number, bounds):
    if number == "RealNotInt":
        ours, theirs = replaced.RealNotInt, _sklearn.RealNotInt
    else:
        ours = theirs = number
    if number is Integral and None in bounds:
        closed = "neither"  # scikit-learn refuses some of the others
    own = replaced.Interval(ours, *bounds, closed=closed)
    reference = _sklearn.Interval(theirs, *bounds, closed=closed)
    for value in VALUES:
        assert own.has(value) == reference.is_satisfied_by(value), value


def test_other_ranges_hold_what_scikit_learns_hold():
    from sklearn.utils._param_validation import make_constraint

    pairs = [(each, make_constraint(each)) for each in
             ("array-like", "boolean", "random_state", "verbose", "cv_object", callable, None, dict)]
    pairs += [(replaced.StrOptions({"a", "c"}), _sklearn.StrOptions({"a", "c"})),
              (replaced.Options(Real, {0, 1}), _sklearn.Options(Real, {0, 1}))]
    values = [*VALUES, print, {}, {"a": 1}, np.zeros(3), pd.DataFrame({"a": [1]}),
              np.random.RandomState(0), [(np.arange(2), np.arange(2))]]
    for own, reference in pairs:
        for value in values:
            assert replaced._satisfies(value, own) == reference.is_satisfied_by(value), (own, value)
