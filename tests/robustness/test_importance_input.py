"""Importances on bad input: a clear error, or the documented behaviour."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.exceptions import DataConversionWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from fctree import (
    CurvatureForestRegressor,
    FCODTRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    TreeNTKRegressor,
)
from fctree.inspection import shapley_importance, variable_importance

METHODS = ("early_stopping", "dropout", "retrain")


def make_data(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n)


def regressor(**options):
    return SymmetricBoostingRegressor(**{"max_iter": 30, "max_depth": 2, **options})


@pytest.fixture(params=[variable_importance, shapley_importance], ids=["vi", "shapley"])
def compute(request):
    return request.param


@pytest.mark.parametrize(
    "groups, error, message",
    [
        ([], ValueError, "groups is empty"),
        ([[0], []], ValueError, "group 1 of groups is empty"),
        ([[0, 4]], ValueError, "names feature 4, X has 4 features"),
        ([[-5]], ValueError, "names feature -5"),
        ([["a"]], ValueError, "names 'a', which X does not have"),
        ([[1, 1]], ValueError, "names a feature twice"),
        ([[1, -3]], ValueError, "names a feature twice"),
        ([[0.5]], TypeError, "column names or indices"),
        ([[True]], TypeError, "column names or indices"),
        ("ab", TypeError, "lists of columns"),
        (3, TypeError, "groups must be a list"),
        ([1.0], TypeError, "column names or indices, got 1.0 in group 0"),
        ({"size": ["a"]}, ValueError, "group 'size' of groups names 'a'"),
    ],
)
def test_bad_groups(compute, groups, error, message):
    with pytest.raises(error, match=message):
        compute(regressor(), *make_data(), groups=groups)


def test_overlapping_groups():
    X, y = make_data()
    result = variable_importance(regressor(), X, y, groups=[[0, 1], [1, 2]], random_state=0)
    assert len(result.importances) == 2  # each withheld by itself
    with pytest.raises(ValueError, match="'x0 . x1' and 'x1 . x2' overlap"):
        shapley_importance(regressor(), X, y, groups=[[0, 1], [1, 2]])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "model", [regressor(), MLPRegressor(hidden_layer_sizes=(4,), max_iter=20)]
)
def test_all_features_withheld(model, method):
    """The model without any feature is the best constant; without training, f(means)."""
    X, y = make_data()
    result = variable_importance(model, X, y, groups=[[0, 1, 2, 3]], method=method, random_state=0)
    assert np.isfinite(result.importances).all()
    if method != "dropout":
        assert result.n_iter[0] == 0
        assert result.scores[0] == pytest.approx(-np.var(y), rel=0.5)


@pytest.mark.parametrize("method", METHODS)
def test_constant_feature(method):
    X, y = make_data()
    X[:, 2] = 3.0
    result = variable_importance(regressor(), X, y, groups=[2], method=method, random_state=0)
    if method == "dropout":
        assert result.importances[0] == 0.0
    # Training goes on, for the first model was not at its end: a tenth of the error left.
    assert abs(result.importances[0]) < 0.1
    assert not result.trusted[0]


@pytest.mark.parametrize("method", METHODS)
def test_missing_values(method):
    X, y = make_data()
    X[::5, 0] = np.nan
    X[:, 3] = np.nan
    result = variable_importance(regressor(), X, y, method=method, random_state=0)
    assert np.isfinite(result.importances).all()
    assert result.importances[0] > 0.1
    assert result.importances[3] == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_missing_values_of_tree_kernels(method):
    X, y = make_data()
    X[::5, 0] = np.nan
    model = TreeNTKRegressor(alpha=0.1)
    result = variable_importance(model, X, y, method=method, groups=[0, 3], random_state=0)
    assert result.importances[0] > 0.1 > abs(result.importances[1])


def test_missing_values_where_the_model_takes_none(compute):
    X, y = make_data()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        compute(MLPRegressor(), X, y)
    y = y.copy()
    y[0] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        compute(regressor(), X, y)


@pytest.mark.parametrize("method", ["dropout", "retrain"])
def test_missing_values_of_estimators_that_have_their_way_with_them(compute, method):
    X, y = make_data()
    X[::5, 3] = np.nan
    pipeline = make_pipeline(SimpleImputer(), LinearRegression())
    search = GridSearchCV(pipeline, {"linearregression__fit_intercept": [True]})
    for model in (pipeline, search, TransformedTargetRegressor(pipeline)):
        result = compute(model, X, y, method=method, groups=[0, 3], random_state=0)
        assert result.importances[0] > 0.1 > abs(result.importances[1])
    with pytest.raises(ValueError, match="LinearRegression does not accept missing values"):
        compute(LinearRegression(), X, y, method=method)


class Plain:
    """An estimator without scikit-learn's base class and tags."""

    def get_params(self, deep=True):
        return {}

    def fit(self, X, y):
        self.coef = np.linalg.lstsq(X, y, rcond=None)[0]
        return self

    def predict(self, X):
        return X @ self.coef


class PlainClassifier(Plain):
    """Two classes."""

    def fit(self, X, y):
        return super().fit(X, y - 0.5)

    def predict_proba(self, X):
        share = np.clip(super().predict(X) + 0.5, 0.01, 0.99)
        return np.column_stack([1 - share, share])


def test_estimators_that_do_not_derive_from_scikit_learn_s(compute):
    X, y = make_data()
    for model, targets in ((Plain(), y), (PlainClassifier(), (y > 0).astype(int))):
        result = compute(model, X, targets, method="retrain", groups=[0, 3], random_state=0)
        assert result.importances[0] > max(0.03, 5 * abs(result.importances[1]))
        with pytest.raises(ValueError, match=f"{type(model).__name__} cannot continue training"):
            compute(model, X, targets)


def test_a_class_that_a_part_lacks(compute):
    X, _ = make_data()
    y = np.zeros(200, dtype=int)
    y[:2] = 1
    with pytest.raises(ValueError, match="none of class 1: "):
        compute(SymmetricBoostingClassifier(max_iter=5), X, y, random_state=0)
    y[1] = 0
    with pytest.raises(ValueError, match="test_fraction=0.25 does not cut 200 samples"):
        compute(SymmetricBoostingClassifier(max_iter=5), X, y)
    with pytest.raises(ValueError, match="y has one class, 0;"):
        compute(SymmetricBoostingClassifier(max_iter=5), X, np.zeros(200, dtype=int))


@pytest.mark.parametrize(
    "estimator, error, message",
    [
        (RandomForestRegressor(), ValueError, "averages independent trees"),
        (ExtraTreesRegressor(), ValueError, "averages independent trees"),
        (BaggingRegressor(), ValueError, "averages independent trees"),
        (CurvatureForestRegressor(), ValueError, "averages independent trees"),
        (HistGradientBoostingRegressor(), ValueError, "bins the data anew"),
        (LinearRegression(), ValueError, "cannot continue training"),
        (SVR(), ValueError, "cannot continue training"),
        (FCODTRegressor(), ValueError, "cannot continue training"),
        (make_pipeline(StandardScaler(), SVR()), ValueError, "cannot continue training"),
        (MLPRegressor(solver="lbfgs"), ValueError, "lbfgs"),
        (SymmetricBoostingRegressor, TypeError, "must be a scikit-learn estimator"),
        ("model", TypeError, "must be a scikit-learn estimator"),
        (None, TypeError, "must be a scikit-learn estimator"),
    ],
)
def test_models_that_cannot_be_continued(compute, estimator, error, message):
    with pytest.raises(error, match=message) as caught:
        compute(estimator, *make_data())
    # What is an estimator can be trained anew.
    assert ('method="retrain"' in str(caught.value)) == (error is ValueError)


@pytest.mark.parametrize("method", ["dropout", "retrain"])
@pytest.mark.parametrize("estimator", [LinearRegression(), MLPRegressor(solver="lbfgs", max_iter=2000)])
def test_models_that_cannot_be_continued_are_trained_anew(estimator, method):
    X, y = make_data()
    result = variable_importance(estimator, X, y, method=method, groups=[0, 1], random_state=0)
    assert np.all(np.isfinite(result.importances))


def test_classifiers_that_cannot_be_continued():
    X, y = make_data()
    y = (y > 0).astype(int)
    with pytest.raises(ValueError, match="no predict_proba"):
        variable_importance(SGDClassifier(), X, y)
    with pytest.raises(ValueError, match="no max_iter"):
        variable_importance(GaussianNB(), X, y)


def test_an_unfitted_estimator_stays_unfitted(compute):
    model = regressor()
    compute(model, *make_data(), random_state=0)
    assert not hasattr(model, "trees_")
    assert not model.early_stopping


@pytest.mark.parametrize(
    "options, message",
    [
        ({"method": "shuffle"}, "method must be one of"),
        ({"scoring": "mse"}, "scoring must be one of"),
        ({"scoring": "accuracy"}, "for classifiers"),
        ({"test_fraction": 0.0}, "test_fraction"),
        ({"validation_fraction": 1.5}, "validation_fraction"),
        ({"test_fraction": 200}, "test_fraction=200 does not cut 200 samples"),
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"min_iter": -1}, "min_iter must be"),
        ({"min_iter": 1.5}, "min_iter must be"),
        ({"sample_weight": -np.ones(200)}, "Negative values"),
        ({"sample_weight": np.ones(3)}, "sample_weight"),
    ],
)
def test_bad_parameters(compute, options, message):
    with pytest.raises(ValueError, match=message):
        compute(regressor(), *make_data(), **options)


def test_bad_numbers_of_subsets():
    with pytest.raises(ValueError, match="n_subsets"):
        shapley_importance(regressor(), *make_data(), n_subsets=1)
    with pytest.raises(ValueError, match="do not tell 4 groups apart"):
        shapley_importance(regressor(), *make_data(), n_subsets=2, random_state=0)
    few = shapley_importance(regressor(), *make_data(), n_subsets=6, random_state=0)
    assert np.all(np.isinf(few.stderr)) and not few.trusted.any()
    assert "draw more (n_subsets)" in few.warnings[-1]


def test_bad_shapes(compute):
    X, y = make_data()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        compute(regressor(), X, y[:-1])
    with pytest.raises(ValueError, match="2D array"):
        compute(regressor(), X[:, 0], y)
    with pytest.raises(ValueError, match="column 0 holds categories"):
        compute(MLPRegressor(), np.array([["a", "b"]] * 200), y)


@pytest.mark.parametrize("method", METHODS)
def test_columns_of_targets_and_of_predictions(compute, method):
    """Targets and predictions are (n_samples,) or (n_samples, 1), whatever the other ones are."""
    X, y = make_data(n=100, d=3)
    options = {"method": method, "random_state": 0}
    model = GradientBoostingRegressor(n_estimators=5, random_state=0)
    expected = compute(model, X, y, **options).importances
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataConversionWarning)
        np.testing.assert_allclose(compute(model, X, y[:, np.newaxis], **options).importances, expected)

    class Column(GradientBoostingRegressor):
        def predict(self, X):
            return super().predict(X)[:, np.newaxis]

    column = Column(n_estimators=5, random_state=0)
    np.testing.assert_allclose(compute(column, X, y, **options).importances, expected)


@pytest.mark.parametrize("change", [lambda predicted: predicted[1:], lambda predicted: np.outer(predicted, [1, 1]), np.mean])
def test_predictions_of_another_shape(change):
    class Wrong(LinearRegression):
        def predict(self, X):
            return change(super().predict(X))

    with pytest.raises(ValueError, match=r"the model's predictions have the shape .*, expected \(50,\)"):
        variable_importance(Wrong(), *make_data(), method="retrain")


def test_weights_that_a_model_does_not_take():
    from sklearn.linear_model import Lasso

    class Unweighted(Lasso):
        __module__ = "sklearn.linear_model"

        def fit(self, X, y):
            return super().fit(X, y)

    class Unknown(Lasso):
        pass

    X, y = make_data()
    with pytest.raises(ValueError, match="whether max_iter of Unknown counts"):
        variable_importance(Unknown(warm_start=True), X, y)
    with pytest.raises(ValueError, match="does not take sample_weight"):
        variable_importance(Unweighted(warm_start=True), X, y, sample_weight=np.ones(200))


@pytest.mark.parametrize("column", [pd.Categorical([3, 7] * 50), ["a", "b"] * 50], ids=["codes", "text"])
def test_categories_are_refused(column):
    """As numbers they would be another model's features."""
    X = pd.DataFrame({"x": np.arange(100.0), "c": column})
    for model in (LinearRegression(), SymmetricBoostingRegressor(categorical_features=None)):
        with pytest.raises(ValueError, match="column 'c' holds categories, and importances of this estimator take numbers"):
            variable_importance(model, X, X["x"], method="retrain")


def test_text_of_arrays_is_refused_and_numbered_columns_are_taken():
    """As the error says."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.standard_normal(300), "c": rng.choice(list("uvw"), 300)})
    y = X["x"] + (X["c"] == "v")
    for table, name in ((X.to_numpy(object), "1"), (X.to_numpy(object).tolist(), "1"), (X, "'c'")):
        with pytest.raises(ValueError, match=f"column {name} holds categories.*categorical_features.*groups"):
            variable_importance(HistGradientBoostingRegressor(), table, y, method="retrain")
    model = SymmetricBoostingRegressor(max_iter=30, random_state=0)
    numbered = X.assign(c=X["c"].astype("category").cat.codes)
    result = variable_importance(model.set_params(categorical_features=["c"]), numbered, y, random_state=0)
    assert result.importances[1] > 0.05
    objects = numbered.to_numpy(object)
    again = variable_importance(model.set_params(categorical_features=[1]), objects, y, random_state=0)
    np.testing.assert_array_equal(again.importances, result.importances)


@pytest.mark.parametrize("test_fraction", [2, 3, 9])
@pytest.mark.parametrize("compute", [variable_importance, shapley_importance])
def test_few_test_samples_are_not_trusted(compute, test_fraction):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((100, 2))
    y = X[:, 0]
    for scoring in ("neg_mean_squared_error", "r2"):
        result = compute(SymmetricBoostingRegressor(max_iter=30), X, y, method="dropout", scoring=scoring,
                         test_fraction=test_fraction, random_state=0)
        assert not result.trusted.any()
        assert not np.any(result.p_values == 0)
        assert any(f"{test_fraction} test samples are too few" in text for text in result.warnings)


def test_one_sample_cannot_judge():
    X = np.random.default_rng(1).standard_normal((100, 2))
    model = SymmetricBoostingRegressor(max_iter=5)
    for compute in (variable_importance, shapley_importance):
        with pytest.raises(ValueError, match="test_fraction=1 leaves one test sample"):
            compute(model, X, X[:, 0], test_fraction=1)
        with pytest.raises(ValueError, match="test_fraction=0.25 leaves one test sample"):
            compute(model, X[:4], X[:4, 0])
    with pytest.raises(ValueError, match="sample_splitting=True needs 4 test samples"):
        variable_importance(model, X, X[:, 0], test_fraction=3, sample_splitting=True)
