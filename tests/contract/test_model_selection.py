"""Inside scikit-learn's machinery: pipelines, searches, cross-validation, meta-estimators."""

import numpy as np
import pytest
from fctree import FCODTClassifier, FCODTRegressor
from reference.tree_comparison import smooth_table
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import BaggingRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def test_pipeline_on_diabetes():
    X, y = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), FCODTRegressor(max_depth=1, min_samples_leaf=50))
    # Ridge alone reaches 0.48 on these folds; one ridge split must not lose much of it.
    assert cross_val_score(pipeline, X, y, cv=5).mean() > 0.42


def test_pipeline_on_classes():
    for load, least in ((load_breast_cancer, 0.93), (load_iris, 0.9)):
        X, y = load(return_X_y=True)
        pipeline = make_pipeline(StandardScaler(),
                                 FCODTClassifier(max_depth=2, min_samples_leaf=10))
        assert cross_val_score(pipeline, X, y, cv=5).mean() > least


def test_grid_search():
    X, y = smooth_table(200, 4, seed=60)
    grid = {"alpha": [0.1, 10.0], "max_depth": [0, 2], "leaf_model": ["ridge", "constant"]}
    search = GridSearchCV(FCODTRegressor(min_samples_leaf=5), grid, cv=3).fit(X, y)
    assert set(search.best_params_) == set(grid)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grid_search_in_processes(n_jobs):
    X, y = smooth_table(100, 3, seed=61)
    search = GridSearchCV(FCODTClassifier(), {"max_depth": [1, 3]}, cv=2, n_jobs=n_jobs)
    search.fit(X, y > np.median(y))
    assert search.best_score_ > 0.5


def test_bagging_passes_sample_weight():
    X, y = smooth_table(150, 3, seed=62)
    bagged = BaggingRegressor(FCODTRegressor(), n_estimators=5, random_state=0).fit(X, y)
    assert bagged.score(X, y) > Ridge().fit(X, y).score(X, y)


def test_calibration_and_multi_output_wrappers():
    X, Y = smooth_table(150, 3, 2, seed=63)
    y = Y[:, 0] > np.median(Y[:, 0])
    calibrated = CalibratedClassifierCV(FCODTClassifier(), cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (150, 2)
    wrapped = MultiOutputRegressor(FCODTRegressor()).fit(X, Y)
    assert wrapped.predict(X).shape == (150, 2)


def test_permutation_importance_finds_the_feature_that_matters():
    rng = np.random.default_rng(64)
    X = rng.uniform(-1, 1, (200, 3))
    model = FCODTRegressor().fit(X, np.abs(X[:, 1]))
    importances = permutation_importance(model, X, np.abs(X[:, 1]), n_repeats=2, random_state=0)
    assert importances.importances_mean.argmax() == 1
    assert model.feature_importances_.argmax() == 1
