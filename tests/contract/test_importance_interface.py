"""Arguments and results of the functions of `fctree.inspection`."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import Lasso, LogisticRegression, SGDRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from table_cases import CONTAINERS, mixed_columns
from table_cases import REGRESSORS as TABLE_REGRESSORS

from fctree import (
    CurvatureBoostingRegressor,
    CurvatureTreeRegressor,
    SoftTreeClassifier,
    SoftTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    TreeNTKRegressor,
)
from fctree.datasets import make_correlated_linear
from fctree.inspection import (
    RoundByRound,
    shapley_importance,
    variable_importance,
)
from fctree.inspection.partition import column_means, partition

REGRESSORS = [
    SymmetricBoostingRegressor(max_iter=100, max_depth=3),
    TreeNTKRegressor(alpha=1e-3, scale=0.1, depth=2),
    MLPRegressor(hidden_layer_sizes=(20,), max_iter=60, learning_rate_init=0.01),
    GradientBoostingRegressor(n_estimators=100, max_depth=2, learning_rate=0.5),
    CurvatureBoostingRegressor(learning_rate=0.1, max_iter=40),
    SGDRegressor(max_iter=50),
    Lasso(alpha=0.01, warm_start=True),
]
CLASSIFIERS = [
    SymmetricBoostingClassifier(max_iter=60, max_depth=3),
    MLPClassifier(hidden_layer_sizes=(20,), max_iter=60, learning_rate_init=0.01),
    GradientBoostingClassifier(n_estimators=30, max_depth=2, learning_rate=0.3),
    LogisticRegression(warm_start=True),
]


def name_of(estimator):
    return type(estimator).__name__


def make_data(n=500, rho=0.5, seed=0):
    return make_correlated_linear(n, rho=rho, random_state=seed, return_importances=True)


@pytest.mark.parametrize("method", ["early_stopping", "dropout", "retrain"])
@pytest.mark.parametrize("estimator", REGRESSORS, ids=name_of)
def test_regressors(estimator, method):
    X, y, truth = make_data()
    result = variable_importance(estimator, X, y, method=method, random_state=0)
    assert result.importances.shape == (6,)
    assert result.confidence_interval.shape == (6, 2)
    assert result.method == method
    assert result.n_test == 125
    assert result.full_n_iter > 0
    assert np.all(result.n_iter == 0) if method == "dropout" else np.all(result.n_iter > 0)
    assert np.all(result.fit_seconds >= 0.0)
    np.testing.assert_allclose(result.importances, result.full_score - result.scores)
    np.testing.assert_allclose(
        result.confidence_interval.mean(axis=1), result.importances, atol=1e-12
    )
    if method == "dropout":
        truth = np.array([2.25, 1.44, 1.0, 0.0, 0.0, 0.0])
    # Errors of 125 test samples are about .2, .15 and .12.
    assert np.all(np.abs(result.importances - truth) < [0.75, 0.6, 0.5, 0.1, 0.1, 0.1])
    assert result.trusted[:3].all()
    assert np.all(result.p_values[:3] < 0.05)


@pytest.mark.parametrize(
    "estimator, scoring",
    [(estimator, "neg_log_loss") for estimator in CLASSIFIERS]
    + [(CLASSIFIERS[0], scoring) for scoring in ("neg_mean_squared_error", "accuracy", "roc_auc")],
    ids=lambda value: value if isinstance(value, str) else name_of(value),
)
def test_classifiers(estimator, scoring):
    X, y, _ = make_data()
    labels = np.where(y > 0, "yes", "no")
    result = variable_importance(estimator, X, labels, scoring=scoring, random_state=0)
    assert np.argmin(result.importances) >= 3
    assert result.importances[0] > result.stderr[0]


@pytest.mark.parametrize("method", ["early_stopping", "dropout", "retrain"])
def test_soft_trees(method):
    """Of few samples they learn the idle features' noise too: only the order is certain."""
    X, y, _ = make_data()
    options = {"n_trees": 10, "depth": 3, "learning_rate": 0.03, "max_epochs": 60}
    regressor, classifier = SoftTreeRegressor(**options), SoftTreeClassifier(**options)
    found = variable_importance(regressor, X, y, method=method, random_state=0)
    assert found.importances[:3].min() > found.importances[3:].max()
    found = variable_importance(
        classifier, X, y > 0, method=method, scoring="neg_log_loss", random_state=0
    )
    assert found.importances[:3].min() > found.importances[3:].max()


def test_three_classes():
    X, y, _ = make_data()
    labels = np.digitize(y, [-1.0, 1.0])
    result = variable_importance(CLASSIFIERS[0], X, labels, scoring="neg_log_loss", random_state=0)
    assert np.all(result.importances[:3] > 0.05)


def test_groups_keep_their_order_and_names():
    X, y, _ = make_data()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = REGRESSORS[0]
    by_index = variable_importance(model, X, y, groups=[[2], [0, 1], -1], random_state=0)
    by_name = variable_importance(model, frame, y, groups=["c", ["a", "b"], "f"], random_state=0)
    np.testing.assert_array_equal(by_index.importances, by_name.importances)
    assert by_index.names == ["x2", "x0 + x1", "x5"]
    assert by_name.names == ["c", "a + b", "f"]
    assert [list(group) for group in by_name.groups] == [[2], [0, 1], [5]]
    named = variable_importance(model, frame, y, groups={"pair": ["a", "b"]}, random_state=0)
    assert named.names == ["pair"]
    assert named.importances[0] == by_name.importances[1]


def test_frames_and_texts():
    X, y, _ = make_data()
    for compute in (variable_importance, shapley_importance):
        result = compute(REGRESSORS[0], X, y, random_state=0)
        frame = result.to_frame()
        assert list(frame.index) == result.names
        np.testing.assert_array_equal(frame["importance"], result.importances)
        text = str(result)
        assert "x0" in text and "95 % interval" in text
        assert ("*" in text) == (not result.trusted.all())


def test_an_importance_near_zero_is_not_trusted():
    X, y, _ = make_data(n=2000)
    result = variable_importance(REGRESSORS[0], X, y, random_state=0)
    assert list(result.trusted) == [True, True, True, False, False, False]
    assert any("near 0" in text and "x3, x4, x5" in text for text in result.warnings)
    split = variable_importance(REGRESSORS[0], X, y, sample_splitting=True, random_state=0)
    assert split.trusted.all()
    assert not any("near 0" in text for text in split.warnings)
    # Halves of the samples, and scores that no longer cancel.
    assert np.all(split.stderr[3:] > 2 * result.stderr[3:])
    assert np.all(split.p_values[3:] > 0.01)


def test_an_unfinished_model_is_reported():
    X, y, _ = make_data()
    model = SymmetricBoostingRegressor(max_iter=5)
    result = variable_importance(model, X, y, random_state=0)
    assert any("full model was still improving" in text for text in result.warnings)
    done = variable_importance(REGRESSORS[0].set_params(max_iter=1000), X, y, random_state=0)
    assert not any("full model" in text for text in done.warnings)


def test_weights():
    X, y, _ = make_data()
    model = REGRESSORS[0]
    plain = variable_importance(model, X, y, random_state=0)
    equal = variable_importance(model, X, y, sample_weight=np.full(len(X), 3.0), random_state=0)
    # The penalty of leaf values is not scaled with the weights.
    np.testing.assert_allclose(plain.importances[:3], equal.importances[:3], rtol=0.1)
    weight = np.ones(len(X))
    weight[:100] = 0.0
    without = variable_importance(model, X[100:], y[100:], random_state=0)
    zeros = variable_importance(model, X, y, sample_weight=weight, random_state=0)
    assert zeros.n_test == without.n_test == 100
    np.testing.assert_array_equal(zeros.importances, without.importances)


def test_float32_is_taken_as_it_is():
    X, y, _ = make_data()
    one = variable_importance(REGRESSORS[0], X.astype(np.float32), y, random_state=0)
    two = variable_importance(REGRESSORS[0], X.astype(np.float32).astype(float), y, random_state=0)
    # Means of float32 columns are float32 numbers.
    np.testing.assert_allclose(one.importances, two.importances, atol=0.05)


@pytest.mark.parametrize("n_subsets", [None, 40])
@pytest.mark.parametrize("method", ["early_stopping", "dropout", "retrain"])
def test_shapley_values_sum_to_the_gain(method, n_subsets):
    X, y, _ = make_data()
    result = shapley_importance(
        REGRESSORS[0], X, y, method=method, n_subsets=n_subsets, random_state=0
    )
    gain = result.full_score - result.empty_score
    assert result.importances.sum() == pytest.approx(gain, abs=1e-10)
    assert result.exact == (n_subsets is None)
    assert len(result.subsets) == len(result.subset_scores) == len(result.n_iter)
    # Correlated features share: for a linear model half of the common variance each.
    expected = np.array([2.25 + 0.9, 1.44 + 0.9, 1.0])
    if method != "dropout":
        expected -= np.array([0.5 * 0.25 * 2.25, 0.5 * 0.25 * 1.44, 0]) * [1, 1, 0]
        expected += np.array([0.5 * 0.25 * 1.44, 0.5 * 0.25 * 2.25, 0])
    assert np.all(np.abs(result.importances[:3] - expected) < 1.0)


def test_shapley_groups():
    X, y, _ = make_data()
    groups = {"pair": [0, 1], "third": [2]}
    result = shapley_importance(REGRESSORS[0], X, y, groups=groups, random_state=0)
    assert result.names == ["pair", "third"]
    assert len(result.subsets) == 4
    # Features in no group are in every model: the empty one still has three.
    assert result.n_iter[0] > 0
    one = shapley_importance(REGRESSORS[0], X, y, groups=[[0]], random_state=0)
    single = variable_importance(REGRESSORS[0], X, y, groups=[[0]], random_state=0)
    np.testing.assert_allclose(one.importances, single.importances)


def gradient_descent(max_iter):
    """Linear regression by gradient descent: the smallest model of the protocol.

    A class of the function's own, which other processes take as it is: they cannot import this file.
    """

    class GradientDescent(RoundByRound):
        def start(self, train):
            self.coef = np.zeros(train.X.shape[1])

        def train_round(self, train):
            residual = train.y - train.X @ self.coef
            self.coef += 0.3 * train.X.T @ residual / len(train.X)

        def predict(self, X):
            return X @ self.coef

    return GradientDescent(max_iter=max_iter)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_model_of_ones_own(n_jobs):
    X, y, truth = make_data(n=1000)
    model = gradient_descent(max_iter=200)
    result = variable_importance(model, X, y, random_state=0, n_jobs=n_jobs)
    assert np.all(np.abs(result.importances - truth) < [0.4, 0.3, 0.3, 0.01, 0.01, 0.01])
    assert not hasattr(model, "coef")
    shapley = shapley_importance(model, X, y, random_state=0)
    assert shapley.importances.sum() == pytest.approx(shapley.full_score - shapley.empty_score)


def test_a_model_that_diverges():
    X, y, _ = make_data()
    with pytest.raises(ValueError, match="validation loss of GradientDescent is not finite"):
        with np.errstate(all="ignore"):
            variable_importance(gradient_descent(max_iter=500), 1e200 * X, y)


def test_a_model_without_rounds_is_refused():
    with pytest.raises(ValueError, match="max_iter must be at least 1, got 0"):
        gradient_descent(max_iter=0)


def test_class_weights_are_those_of_all_models():
    """A feature without values changes no model, and so has no importance, exactly."""
    X = np.c_[np.random.default_rng(0).normal(size=(400, 2)), np.zeros(400)]
    model = SymmetricBoostingClassifier(max_iter=10, class_weight={0: 1, 1: 20}, random_state=0)
    for method in ("retrain", "early_stopping"):
        found = variable_importance(model, X, X[:, 0] > 0.5, method=method, random_state=0)
        assert found.importances[2] == 0.0
        assert found.importances[0] > 0.1


@pytest.mark.parametrize("method", ["retrain", "early_stopping", "dropout"])
def test_categories_of_symmetric_boosting(method):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 20, 600)
    X = np.c_[rng.normal(size=600), codes, rng.normal(size=600)]
    y = X[:, 0] + 2 * rng.normal(size=20)[codes]
    model = SymmetricBoostingRegressor(max_iter=60, categorical_features=[1], random_state=0)
    found = variable_importance(model, X, y, method=method, scoring="r2", random_state=0)
    assert found.full_score > 0.8
    assert found.importances[1] > found.importances[0] > 0.1
    assert abs(found.importances[2]) < 0.05


def cities(n_samples=500):
    rng = np.random.default_rng(0)
    city = rng.integers(0, 8, n_samples)
    age = rng.normal(size=n_samples)
    names = np.array([f"city {number}" for number in city], dtype=object)
    names[::50] = None
    return {"noise": rng.normal(size=n_samples), "city": names, "age": age}, age + city % 3


@pytest.mark.parametrize("method", ["retrain", "early_stopping", "dropout"])
@pytest.mark.parametrize("name", ["symmetric", "boosting", "kernel", "tree", "forest", "soft"])
def test_text_and_categories_are_taken(name, method):
    columns, y = cities()
    table = pd.DataFrame(columns)
    if method == "early_stopping" and name in ("tree", "forest", "soft"):
        with pytest.raises(ValueError, match="continue|partial_fit"):
            variable_importance(TABLE_REGRESSORS[name], table, y)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = variable_importance(TABLE_REGRESSORS[name], table, y, method=method, random_state=0)
    assert found.names == ["noise", "city", "age"]
    assert found.importances[1:].min() > 0.05 and found.importances[0] < 0.5 * found.importances[1]
    assert table["city"].iloc[1] == columns["city"][1]  # as it was
    if method != "retrain":
        return
    # The same models as of numbers that are named, whose withheld column is another constant.
    codes = table["city"].astype("category").cat.codes.replace(-1, np.nan)
    numbered = clone(TABLE_REGRESSORS[name]).set_params(categorical_features=["city"])
    by_number = variable_importance(numbered, table.assign(city=codes), y, method=method, random_state=0)
    assert_array_equal(by_number.importances[[0, 2]], found.importances[[0, 2]])


@cache
def importances_from(container):
    columns, y = mixed_columns(n_cities=5)
    model = SymmetricBoostingRegressor(max_iter=5, random_state=0)
    groups = [[0, 3], [1], [2]]
    return shapley_importance(model, container(columns), y, groups=groups, method="retrain", random_state=0).importances


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_text_and_categories_of_any_library(container):
    assert_array_equal(importances_from(container), importances_from(pd.DataFrame))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["retrain", "early_stopping", "dropout"])
@pytest.mark.parametrize("function", [variable_importance, shapley_importance])
def test_withheld_categories_are_missing(function, method):
    """A mean of codes is no category, or that of another."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 7, 400)
    X = np.c_[rng.normal(size=400), codes]
    y = X[:, 0] + np.where(codes == 3, 5.0, 0.0)
    model = CurvatureBoostingRegressor(max_iter=20, categorical_features=[1], random_state=0)
    parts = partition(model, X, y, None, fractions=(0.25, 0.25), seed=0)
    assert_array_equal(parts.replacement, [column_means(parts.train)[0], np.nan])
    found = function(model, X, y, method=method, random_state=0)
    assert found.importances[1] > found.importances[0] > 0.3


@pytest.mark.parametrize(
    "named, placed",
    [
        ({"monotonic_cst": {"b": 1, "c": -1}}, {"monotonic_cst": [0, 1, -1]}),
        ({"interaction_cst": [{"a", "b"}, ["c"]]}, {"interaction_cst": [[0, 1], [2]]}),
        ({"categorical_features": ["c"]}, {"categorical_features": [2]}),
    ],
    ids=["monotonic", "interactions", "categories"],
)
def test_parameters_may_name_columns(named, placed):
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(200, 2)), rng.integers(0, 4, 200)]
    y = X[:, 0] + X[:, 1] * (X[:, 2] == 1)
    model = SymmetricBoostingRegressor(max_iter=10, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    by_name = variable_importance(clone(model).set_params(**named), frame, y, random_state=0)
    by_place = variable_importance(clone(model).set_params(**placed), X, y, random_state=0)
    assert_array_equal(by_name.importances, by_place.importances)


def test_unknown_names_are_the_estimators_error():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 2)), columns=["a", "b"])
    model = SymmetricBoostingRegressor(max_iter=3, monotonic_cst={"z": 1})
    with pytest.raises(ValueError, match="monotonic_cst"):
        variable_importance(model, X, X["a"])


@pytest.mark.parametrize("estimator", [
    SymmetricBoostingRegressor(max_iter=40, max_depth=3), CurvatureBoostingRegressor(learning_rate=0.1, max_iter=20),
], ids=name_of)
def test_importances_are_the_same_in_any_unit_of_the_targets(estimator):
    X, y, _ = make_data()
    expected = variable_importance(estimator, X, y, random_state=0)
    found = variable_importance(estimator, X, y * 2.0**-20, random_state=0)
    assert_array_equal(found.n_iter, expected.n_iter)
    np.testing.assert_allclose(found.importances * 2.0**40, expected.importances, rtol=1e-9)


def test_shapley_values_by_dropout_of_features_that_say_nothing_are_0():
    X, y = make_friedman1(200, random_state=0)
    players = [
        shapley_importance(CurvatureTreeRegressor(), np.c_[X[:, :4], np.ones((200, n))], y, method="dropout", random_state=0)
        for n in (0, 2)
    ]
    np.testing.assert_allclose(players[1].importances[4:], 0.0, atol=1e-12)
    np.testing.assert_allclose(players[1].importances[:4], players[0].importances, atol=1e-9)
