"""scikit-learn's own checks of the soft tree estimators, none skipped."""

import pytest
from fctree import SoftTreeClassifier, SoftTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

FEW = {"max_epochs": 20, "n_trees": 3, "depth": 2, "learning_rate": 0.1}
# Not among them: early stopping, which holds samples out and so tells a weight from repetition.
ESTIMATORS = [
    SoftTreeRegressor(),
    SoftTreeClassifier(),
    *(
        kind(**{**FEW, **settings})
        for kind in (SoftTreeRegressor, SoftTreeClassifier)
        for settings in (
            {"routing": "logistic", "warm_start": True, "depth": 3},
            {"gamma": 0.1, "depth": 5, "l2_regularization": 1e-4},
            {"routing": "erf", "fit_intercept": False, "max_epochs": 50},
        )
    ),
    SoftTreeRegressor(max_epochs=300, initialization="ntk", learning_rate=0.05),
    SoftTreeRegressor(max_epochs=300, optimizer="gradient_descent", learning_rate=0.2),
]


# Some checks warn about what they do themselves (one class, data frames, deprecations).
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_contract(estimator, check):
    check(estimator)
