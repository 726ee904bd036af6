"""The contract of scikit-learn for ensembles of oblique trees."""

import pytest
from fctree import (
    FCODTBoostingClassifier,
    FCODTBoostingRegressor,
    FCODTForestClassifier,
    FCODTForestRegressor,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

BOOSTED = {"max_iter": 5}
GROWN = {"n_estimators": 5}
CONSTANT = {"leaf_model": "constant", "split_criterion": "constant", "standardize": False,
            "extrapolation": None}
ESTIMATORS = [
    FCODTBoostingRegressor(**BOOSTED),
    FCODTBoostingRegressor(**BOOSTED, loss="absolute_error", colsample=0.5, alpha="loo"),
    FCODTBoostingRegressor(**BOOSTED, **CONSTANT, step_depth=None),
    FCODTBoostingClassifier(**BOOSTED),
    FCODTForestRegressor(**GROWN),
    FCODTForestRegressor(**GROWN, **CONSTANT, max_features=0.5, directions="ridge"),
    FCODTForestClassifier(**GROWN),
    FCODTForestClassifier(**GROWN, max_features="sqrt", max_samples=0.5, bootstrap=False),
]


# Some checks warn about what they do themselves (one class, data frames, deprecations).
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_contract(estimator, check):
    check(estimator)
