"""The contract of scikit-learn for ensembles of oblique trees."""

import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    FCODTRegressor,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

BOOSTED = {"max_iter": 20, "learning_rate": 0.1}
GROWN = {"n_estimators": 5}
# A sample of weight 2 is one sample to `min_samples_leaf`, the same sample twice is two.
CONSTANT = {"tree": FCODTRegressor(leaf_model="constant"), "extrapolation": None}
ESTIMATORS = [
    CurvatureBoostingRegressor(**BOOSTED),
    CurvatureBoostingRegressor(**BOOSTED, loss="absolute_error", colsample=0.5, alpha="loo"),
    CurvatureBoostingRegressor(**BOOSTED, **CONSTANT, step_depth=None),
    CurvatureBoostingClassifier(**BOOSTED),
    CurvatureForestRegressor(**GROWN),
    CurvatureForestRegressor(**GROWN, **CONSTANT, max_features=0.5),
    CurvatureForestClassifier(**GROWN),
    CurvatureForestClassifier(**GROWN, max_features="sqrt", max_samples=0.5, bootstrap=False),
]


# Some checks warn about what they do themselves (one class, data frames, deprecations).
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_contract(estimator, check):
    check(estimator)
