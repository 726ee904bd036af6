"""scikit-learn's own checks of the estimator contract, for the kernel estimators, none skipped."""

import pytest
from fctree import (
    TreeNTKClassifier,
    TreeNTKClassifierCV,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

SETTINGS = [
    {},
    {"alpha": 1.0, "architecture": "decision_list", "depth": float("inf"), "n_jobs": 2},
    {"alpha": 0.1, "solver": "nystrom", "n_components": 500, "tol": 1e-12, "random_state": 0},
    {"alpha": 1.0, "solver": "cg", "tol": 1e-10},
]
GRID = {"alphas": (0.1, 1.0), "depths": (1, 3), "scales": (1.0, 2.0)}
ESTIMATORS = [kind(**settings) for kind in (TreeNTKRegressor, TreeNTKClassifier)
              for settings in SETTINGS]
ESTIMATORS += [kind(**GRID, **more) for kind in (TreeNTKRegressorCV, TreeNTKClassifierCV)
               for more in ({}, {"cv": 3})]


# Some checks warn about what they do themselves (one class, data frames, deprecations).
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_contract(estimator, check):
    check(estimator)
