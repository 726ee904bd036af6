"""The contract of scikit-learn for ensembles of oblique trees."""

import pytest
from fctree.ensembles import FCODTBoostingClassifier, FCODTBoostingRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

QUICK = {"max_iter": 10}
ESTIMATORS = [
    FCODTBoostingRegressor(**QUICK),
    FCODTBoostingRegressor(**QUICK, early_stopping=True, colsample=0.5, alpha="loo"),
    FCODTBoostingRegressor(**QUICK, loss="absolute_error", subsample=1.0),
    FCODTBoostingRegressor(**QUICK, leaf_model="constant", split_criterion="constant",
                           standardize=False, extrapolation=None, step_depth=None),
    FCODTBoostingClassifier(**QUICK),
    FCODTBoostingClassifier(**QUICK, early_stopping=True, step_depth=None),
]


# Some checks warn about what they do themselves (one class, data frames, deprecations).
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_contract(estimator, check):
    check(estimator)
