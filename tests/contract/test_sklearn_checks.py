"""scikit-learn's own checks of the estimator contract, for every estimator, none skipped."""

import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
    SoftTreeClassifier,
    SoftTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    TreeNTKClassifier,
    TreeNTKClassifierCV,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)
from sklearn.utils.estimator_checks import parametrize_with_checks


def settings_of(regressor, classifier, *settings):
    """Both estimators with each of the settings."""
    return [kind(**each) for kind in (regressor, classifier) for each in settings]


FCODT = settings_of(
    FCODTRegressor, FCODTClassifier,
    {},
    {"leaf_model": "constant"},
    {"alpha": 0.0},
    {"max_depth": 6, "n_jobs": 2},
    {"max_depth": None, "feature_concatenation": False, "fit_intercept": False},
)  # fmt: skip
# A sample of weight 2 is one sample to `min_samples_leaf`, the same sample twice is two. Hence 1, here and in `CONSTANT`.
CURVATURE_TREES = settings_of(
    CurvatureTreeRegressor, CurvatureTreeClassifier,
    {},
    {"standardize": False, "min_samples_leaf": 1},
    {"alpha": "loo", "parent_weight": 0.0, "split_margin": 0.0, "max_depth": None},
    {"max_coef": 2},
    {"leaf_model": "soft", "min_samples_leaf": 1, "split_margin": 0.0},
)  # fmt: skip

BOOSTED = {"max_iter": 20, "learning_rate": 0.1}
GROWN = {"n_estimators": 5}
CONSTANT = {"tree": FCODTRegressor(leaf_model="constant"), "extrapolation": None}
ENSEMBLES = [
    CurvatureBoostingRegressor(**BOOSTED),
    CurvatureBoostingRegressor(**BOOSTED, loss="absolute_error", colsample=0.5, alpha="loo"),
    CurvatureBoostingRegressor(**BOOSTED, **CONSTANT, step_depth=None),
    CurvatureBoostingClassifier(**BOOSTED),
    CurvatureForestRegressor(),
    CurvatureForestRegressor(**GROWN),
    CurvatureForestRegressor(**GROWN, **CONSTANT, max_features=0.5),
    CurvatureForestClassifier(),
    CurvatureForestClassifier(**GROWN),
    CurvatureForestClassifier(**GROWN, max_features="sqrt", max_samples=0.5, bootstrap=False),
]

FEW_ROUNDS = {"max_iter": 20, "max_depth": 3}
SYMMETRIC = [
    *settings_of(
        SymmetricBoostingRegressor, SymmetricBoostingClassifier,
        {"max_iter": 20},
        {**FEW_ROUNDS, "score_noise": "gumbel", "random_strength": 0.01, "score_function": "cosine"},
        # A little: without it 1,000 rounds learn noise by heart, whatever the classes weigh.
        {**FEW_ROUNDS, "warm_start": True, "random_strength": 0.0, "l2_leaf_reg": 0.1},
    ),
    SymmetricBoostingRegressor(**FEW_ROUNDS, posterior_samples=2),
    SymmetricBoostingRegressor(**FEW_ROUNDS, loss="huber"),
]  # fmt: skip

FEW_EPOCHS = {"max_epochs": 20, "n_trees": 3, "depth": 2, "learning_rate": 0.1}
# Not among them: early stopping, which holds samples out and so tells a weight from repetition.
SOFT_TREES = [
    *settings_of(
        SoftTreeRegressor, SoftTreeClassifier,
        {},
        {**FEW_EPOCHS, "routing": "logistic", "warm_start": True, "depth": 3},
        {**FEW_EPOCHS, "gamma": 0.1, "depth": 5, "l2_regularization": 1e-4},
        {**FEW_EPOCHS, "routing": "erf", "fit_intercept": False, "max_epochs": 50},
    ),
    SoftTreeRegressor(max_epochs=300, initialization="ntk", learning_rate=0.05),
    SoftTreeRegressor(max_epochs=300, optimizer="gradient_descent", learning_rate=0.2),
]  # fmt: skip

GRID = {"alphas": (0.1, 1.0), "depths": (1, 3), "scales": (1.0, 2.0)}
KERNELS = [
    *settings_of(
        TreeNTKRegressor, TreeNTKClassifier,
        {},
        {"alpha": 1.0, "architecture": "decision_list", "depth": float("inf"), "n_jobs": 2},
        {"alpha": 0.1, "solver": "nystrom", "n_components": 500, "tol": 1e-12, "random_state": 0},
        {"alpha": 1.0, "solver": "cg", "tol": 1e-10},
    ),
    *settings_of(TreeNTKRegressorCV, TreeNTKClassifierCV, GRID, {**GRID, "cv": 3}),
]  # fmt: skip


# Some checks warn about what they do themselves (one class, data frames, deprecations).
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([*FCODT, *CURVATURE_TREES, *ENSEMBLES, *SYMMETRIC, *SOFT_TREES, *KERNELS])
def test_contract(estimator, check):
    check(estimator)
