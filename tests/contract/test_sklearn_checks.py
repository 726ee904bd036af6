"""scikit-learn's own checks of the estimator contract, for every estimator, none skipped."""

import pytest
from fctree import FCODTClassifier, FCODTRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

SETTINGS = [
    {},
    {"leaf_model": "constant"},
    {"alpha": 0.0},
    {"max_depth": 6, "n_jobs": 2},
    {"max_depth": None, "feature_concatenation": False, "fit_intercept": False},
]
ESTIMATORS = [kind(**settings) for kind in (FCODTRegressor, FCODTClassifier)
              for settings in SETTINGS]


# Some checks warn about what they do themselves (one class, data frames, deprecations).
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_contract(estimator, check):
    check(estimator)
