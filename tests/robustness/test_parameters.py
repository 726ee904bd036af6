"""Bad parameters are refused at `fit` by name; the constructor accepts anything."""

import json
import os
from numbers import Integral

import fctree
import numpy as np
import pytest
from fctree import FCODTClassifier, FCODTRegressor
from fctree._sklearn import Interval, InvalidParameterError
from reference.tree_comparison import smooth_table
from scripts import Script

X, y = smooth_table(30, 3, seed=120)
BAD = {
    "alpha": [-1.0, np.nan, np.inf, "ridge", None, [1.0]],
    "max_depth": [-1, 2.5, "deep", np.inf],
    "min_samples_split": [1, 0, -3, 0.0, 1.5, "two", None],
    "min_samples_leaf": [0, -1, 0.0, 1.5, "one", None],
    "min_impurity_decrease": [-0.1, np.nan, "none", None],
    "feature_concatenation": ["yes", 2, None],
    "leaf_model": ["mean", "linear", None, 1],
    "fit_intercept": ["no", 3, None],
    "n_jobs": [1.5, "all", [2]],
    "random_state": ["seed", -1, 1.5],
}


@pytest.mark.parametrize("kind", [FCODTRegressor, FCODTClassifier])
@pytest.mark.parametrize("name, value", [(n, v) for n, values in BAD.items() for v in values],
                         ids=lambda part: str(part))
def test_bad_values_are_named(kind, name, value):
    estimator = kind(**{name: value})
    target = y if kind is FCODTRegressor else y > np.median(y)
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter"):
        estimator.fit(X, target)
    assert not hasattr(estimator, "tree_")


def test_every_parameter_is_tried():
    assert set(BAD) <= set(FCODTRegressor().get_params())


@pytest.mark.parametrize("name, value", [
    ("alpha", 0), ("alpha", 0.0), ("alpha", 1e300), ("alpha", np.float32(1)),
    ("max_depth", np.int64(2)), ("max_depth", None), ("min_samples_leaf", 1000),
    ("min_samples_split", 10**6), ("min_impurity_decrease", 1e9), ("min_impurity_decrease", 0),
    ("feature_concatenation", np.bool_(False)), ("fit_intercept", np.bool_(True)),
    ("n_jobs", -1), ("n_jobs", 64), ("random_state", 0),
    ("random_state", np.random.RandomState(0)),
])
def test_values_at_the_edge_are_accepted(name, value):
    model = FCODTRegressor(**{name: value}).fit(X, y)
    assert np.all(np.isfinite(model.predict(X)))


@pytest.mark.parametrize("name, value, count", [
    ("min_samples_leaf", 0.2, 6), ("min_samples_leaf", 0.21, 7),
    ("min_samples_split", 0.5, 15), ("min_samples_split", 1.0, 30),
])
def test_fractions_are_counts_rounded_up(name, value, count):
    of_fraction, of_count = (FCODTRegressor(**{name: v}, max_depth=4).fit(X, y)
                             for v in (value, count))
    np.testing.assert_array_equal(of_fraction.tree_.n_node_samples, of_count.tree_.n_node_samples)


def test_an_enormous_penalty_leaves_the_mean():
    model = FCODTRegressor(alpha=1e300, max_depth=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-12)


def test_a_failed_fit_keeps_the_estimator_as_it_was():
    estimator = FCODTRegressor().fit(X, y)
    before = estimator.predict(X)
    with pytest.raises(ValueError):
        estimator.fit(X, np.full(30, np.nan))
    np.testing.assert_array_equal(estimator.predict(X), before)


def test_no_jobs_is_an_error():
    with pytest.raises(ValueError, match="n_jobs"):
        FCODTRegressor(n_jobs=0).fit(X, y)


@pytest.mark.parametrize("kind", [fctree.CurvatureBoostingRegressor, fctree.SymmetricBoostingRegressor])
@pytest.mark.parametrize("loss", [None, "squared", ("tweedie",), ["poisson"]], ids=repr)
def test_bad_losses_can_be_looked_at(kind, loss):
    """Notebooks list the attributes of what they show."""
    fitted = kind(max_iter=2, random_state=0).fit(X, y)
    for model in (kind(loss=loss), fitted.set_params(loss=loss)):
        assert "fit" in dir(model) and "loss" in model._repr_html_()
        with pytest.raises(ValueError, match="loss"):
            model.fit(X, y)


UNCHECKED_FITS = """
import json, sys, warnings
import numpy as np
import sklearn
import fctree

warnings.simplefilter("ignore")
family, names = json.loads(sys.argv[1])
cls = getattr(fctree, family + "Regressor")
small = {"max_iter": 2, "n_estimators": 2, "max_epochs": 1, "n_trees": 2, "random_state": 0}
X = np.random.default_rng(0).standard_normal((300, 3))
with sklearn.config_context(skip_parameter_validation=True):
    for name in names:
        for value in (-1, 0, 2**62, 10**30):
            if value >= 0 and name in ("max_iter", "n_estimators", "max_epochs", "posterior_samples"):
                continue  # the number that is run
            settings = {**{key: small[key] for key in small if key in cls().get_params()}, name: value}
            try:
                cls(**settings).fit(X, X[:, 0])
                outcome = "fitted"
            except (MemoryError, ValueError) as error:
                outcome = str(error)
            print(json.dumps([name, value, outcome]), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="copies of processes")
@pytest.mark.parametrize("family, refused", [
    ("CurvatureTree", "max_coef"), ("FCODT", "min_samples_leaf"), ("CurvatureForest", "max_samples"),
    ("CurvatureBoosting", "max_depth"), ("SymmetricBoosting", "max_bins"), ("SoftTree", "batch_size"),
])
def test_counts_are_refused_where_scikit_learn_does_not_check_them(family, refused):
    """Compiled code would end the process."""
    constraints = getattr(fctree, f"{family}Regressor")._parameter_constraints
    names = [
        name for name, allowed in constraints.items() if isinstance(allowed, list)
        and any(each in (Integral, "boolean") or isinstance(each, Interval) and each.type is Integral for each in allowed)
    ]  # fmt: skip
    with Script(UNCHECKED_FITS, json.dumps([family, names])) as process:
        status = process.wait(300)
        lines = process.stdout.read().splitlines()
        assert status == 0, (lines[-1:], process.errors()[-500:])
    outcomes = {(name, value): outcome for name, value, outcome in map(json.loads, lines)}
    assert {name for name, _ in outcomes} == set(names)
    assert f"{refused} must be from" in outcomes[refused, -1]
