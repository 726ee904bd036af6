"""Half of the features in every second round of classifiers."""

import numpy as np
import pytest
from fctree import CurvatureBoostingClassifier, CurvatureBoostingRegressor, CurvatureTreeRegressor
from sklearn.datasets import make_classification


ALL = {"tree": CurvatureTreeRegressor(standardize=False), "step_depth": None, "random_state": 0}  # no choice of few features


def used(model):
    """Numbers of features in the leaves of each tree."""
    return np.array([np.count_nonzero(np.any(tree.leaf_coef != 0, axis=(0, 1))) for tree in model.estimators_])


def table(n_features, n_classes=2):
    return make_classification(400, n_features, n_informative=8, n_classes=n_classes, random_state=0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_half_in_every_second_round(n_classes):
    X, y = table(16, n_classes)
    model = CurvatureBoostingClassifier(max_iter=8, **ALL).fit(X, y)
    np.testing.assert_array_equal(used(model), [16, 8] * 4)
    constant = np.hstack([X, np.ones((400, 5))])
    found = CurvatureBoostingClassifier(max_iter=8, **ALL).fit(constant, y)
    np.testing.assert_array_equal(found.predict_proba(constant), model.predict_proba(X))


@pytest.mark.parametrize("model, n_features", [
    (CurvatureBoostingClassifier(max_iter=4, **ALL), 11),
    (CurvatureBoostingRegressor(max_iter=4, **ALL), 16),
    (CurvatureBoostingClassifier(max_iter=4, **ALL, colsample=0.95), 16),
])
def test_not_of_few_features_nor_of_regressors_nor_where_a_share_is_given(model, n_features):
    X, y = table(n_features)
    assert np.all(used(model.fit(X, y)) > 0.9 * n_features)


def test_not_of_a_table_of_few_columns_with_many_categories():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (400, 6)).astype(str).astype(object)
    y = (X[:, 0] == X[:, 1]).astype(int)
    model = CurvatureBoostingClassifier(max_iter=4, **ALL).fit(X, y)
    assert model.trees_.n_features >= 12
    assert np.ptp(used(model)) == 0


def test_a_warm_start_is_one_fit():
    X, y = table(16)
    whole = CurvatureBoostingClassifier(max_iter=7, random_state=0).fit(X, y)
    parts = CurvatureBoostingClassifier(max_iter=3, random_state=0, warm_start=True).fit(X, y)
    parts.set_params(max_iter=7).fit(X, y)
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
