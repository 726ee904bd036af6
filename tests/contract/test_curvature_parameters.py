"""Ranges of the parameters of curvature trees."""

import numpy as np
import pytest
from fctree import CurvatureTreeClassifier, CurvatureTreeRegressor
from fctree._sklearn import InvalidParameterError
from fctree._tree import SPLIT_KINDS
from reference.tree_comparison import smooth_table
from sklearn.base import clone

X, y = smooth_table(40, 3, seed=1)
BAD = {
    "alpha": ["LOO", "gcv", -1.0, None],
    "directions": ["hinge", None, 3, {"ridge"}, {"axis": 1}],
    "n_curvature": [0, -1, 1.5, "two", None],
    "max_coef": [0, -1, 1.5, "two"],
    "standardize": ["yes", 2, None],
    "feature_concatenation": ["yes", 2, None],
    "leaf_model": ["mean", "linear", None, 1],
    "max_thresholds": [0, -5, 2.5, "all", None],
    "n_screened": [0, -1, 1.5, "all"],
    "parent_weight": [-1.0, np.nan, np.inf, "none", None],
    "split_margin": [-0.1, np.nan, np.inf, "none", None],
}


@pytest.mark.parametrize("kind", [CurvatureTreeRegressor, CurvatureTreeClassifier])
@pytest.mark.parametrize("name, value", [(n, v) for n, values in BAD.items() for v in values],
                         ids=lambda part: str(part))
def test_bad_values_are_named(kind, name, value):
    estimator = kind(**{name: value})
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter"):
        estimator.fit(X, y if kind is CurvatureTreeRegressor else y > np.median(y))
    assert not hasattr(estimator, "tree_")


# A sequence has the right type, so what is in it is looked at later, and named as well.
@pytest.mark.parametrize("value", [(), [], ("ridge", "hinge"), ["all"], (None,), (["axis"],)],
                         ids=str)
def test_bad_lists_of_directions_are_named(value):
    with pytest.raises(ValueError, match="directions"):
        CurvatureTreeRegressor(directions=value).fit(X, y)


@pytest.mark.parametrize("name, value", [
    ("alpha", "loo"), ("alpha", 0), ("directions", ["axis"]), ("directions", ("axis", "axis")),
    ("n_curvature", np.int32(3)), ("n_curvature", 10**9), ("max_thresholds", 10**9),
    ("max_coef", np.int64(1)), ("max_coef", 2**31),
    ("n_screened", 10**9), ("n_screened", None), ("parent_weight", 1e300),
    ("parent_weight", 0), ("split_margin", 1e300), ("split_margin", np.float32(0.5))], ids=str)
def test_good_values_at_the_edge(name, value):
    model = CurvatureTreeRegressor(**{name: value}).fit(X, y)
    assert np.all(np.isfinite(model.predict(X)))


def test_the_name_all_is_every_kind():
    trees = [CurvatureTreeRegressor(directions=directions, split_margin=0.1)
             .fit(X, y).tree_ for directions in ("all", SPLIT_KINDS[::-1])]
    np.testing.assert_array_equal(trees[0].coef, trees[1].coef)
    np.testing.assert_array_equal(trees[0].split_kind, trees[1].split_kind)


def test_fitting_changes_no_parameter():
    model = CurvatureTreeRegressor(alpha="loo", directions=["axis", "ridge"])
    before = clone(model).get_params()
    assert model.fit(X, y).get_params() == before
    assert before["directions"] == ["axis", "ridge"]
