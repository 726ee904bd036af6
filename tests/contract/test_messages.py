"""Mistakes that users of other programs make get an error or a warning that names what they want."""

import warnings

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    export_text,
    plot_regions,
)
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

X, y = load_diabetes(return_X_y=True)
X, y = X[:100], y[:100]


@pytest.mark.parametrize("model", [SymmetricBoostingRegressor(max_iter=2), CurvatureBoostingRegressor(max_iter=2),
                                   CurvatureTreeRegressor()], ids=lambda model: type(model).__name__)
def test_sample_weight_that_was_meant_to_be_another_argument(model):
    with pytest.raises(TypeError, match=r"tuple of arrays; .* by name, such as eval_set="):
        model.fit(X, y, (X, y))
    with pytest.raises(TypeError, match="got 'balanced'; classifiers have class_weight"):
        model.fit(X, y, sample_weight="balanced")
    with pytest.raises(TypeError, match="sample_weight must hold a number for each sample, got a dict"):
        model.fit(X, y, sample_weight={0: 1.0, 1: 2.0})
    model.fit(X, y, sample_weight=tuple(np.ones(len(y))))


@pytest.mark.parametrize("metric, scorer", [
    ("rmse", "neg_root_mean_squared_error"), ("auc", "roc_auc"), ("multi_logloss", "neg_log_loss"), ("l1", "neg_mean_absolute_error")])
def test_names_of_metrics_in_other_programs(metric, scorer):
    with pytest.raises(ValueError, match=f"eval_metric '{metric}' is no scorer of scikit-learn: it is called '{scorer}'"):
        SymmetricBoostingClassifier(max_iter=2).fit(X, y > 100, eval_set=(X, y > 100), eval_metric=metric)
    with pytest.raises(ValueError, match="'ndcg5' is no scorer of scikit-learn, which .*get_scorer_names"):
        SymmetricBoostingClassifier(max_iter=2).fit(X, y > 100, eval_set=(X, y > 100), eval_metric="ndcg5")


@pytest.mark.parametrize("table", [{"a": y, "b": y}, [{"a": 1.0, "b": 2.0}] * 100], ids=["dict", "list of dicts"])
def test_dicts_are_no_tables(table):
    with pytest.raises(TypeError, match=r"dicts?: pandas.DataFrame\(X\) makes a table of it"):
        CurvatureTreeRegressor().fit(table, y)


def test_partial_effects_need_samples():
    with pytest.raises(ValueError, match="partial effects here, which need X="):
        plot_regions(SymmetricBoostingRegressor(max_iter=2).fit(X, y))


def test_intervals_of_too_few_scores_say_how_many_they_need():
    model = CurvatureBoostingRegressor(max_iter=2, calibration_fraction=0.2, random_state=0).fit(X, y)
    with pytest.warns(RuntimeWarning, match=r"confidence_level=0.99 needs about 99 conformity scores or more, and there are 20"):
        model.predict_interval(X, 0.99)


def column(kind):
    numbers = 1000.0 * np.random.default_rng(0).standard_normal(len(y)) ** 2
    text = {
        "dates": lambda i, x: f"2024-{1 + i % 12:02}-{1 + i % 28:02}",
        "times": lambda i, x: f"{1 + i % 28}.{1 + i % 12}.2024 12:00",
        "money": lambda i, x: f"${x:,.2f}",
        "percent": lambda i, x: f"{x:.2f}%",
        "thousands": lambda i, x: f"{x:,.1f}",
        "versions": lambda i, x: f"v{i}.{i % 7}.1",
        "names": lambda i, x: f"name {i}",
        "zip codes": lambda i, x: f"0{i:04}",
    }[kind]
    return np.array([[text(i, x)] for i, x in enumerate(numbers)], dtype=object)


@pytest.mark.parametrize("kind", ["dates", "times", "money", "percent", "thousands"])
def test_numbers_and_dates_that_were_read_as_text(kind):
    with pytest.warns(UserWarning, match=r"\['x0'\] hold text .* look like numbers or dates: convert them") as caught:
        CurvatureTreeClassifier().fit(column(kind), y > 100)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("kind", ["versions", "names", "zip codes"])
def test_text_that_is_neither(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CurvatureTreeClassifier().fit(column(kind), y > 100)


def test_warnings_name_the_line_of_the_user():
    """Below scikit-learn's functions too."""
    money, tree = column("money"), CurvatureTreeClassifier()
    for call in (lambda: tree.fit(money, y > 100), lambda: make_pipeline(tree).fit(money, y > 100),
                 lambda: cross_val_score(tree, money, y > 100, cv=2)):
        with pytest.warns(UserWarning, match="convert them") as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}
    boosting = CurvatureBoostingRegressor(max_iter=2)
    with pytest.warns(UserWarning, match="a row of weight w") as caught:
        boosting.fit(X, y, sample_weight=np.full(len(y), 1e5 + 0.5))
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("argument, message", [
    ([(np.zeros((4, 2)), np.zeros(4))], "list of tuples of arrays; .* eval_set="),
    (["city"], "got 'city'; columns are named in the parameter categorical_features"),
])
def test_lists_that_were_meant_to_be_other_arguments(argument, message):
    with pytest.raises(TypeError, match=message):
        CurvatureBoostingRegressor().fit(np.zeros((4, 2)), np.arange(4.0), argument)


@pytest.mark.parametrize("kind", [CurvatureTreeRegressor, SymmetricBoostingRegressor])
def test_text_as_a_target_of_a_regressor(kind):
    with pytest.raises(ValueError, match="y holds text .'b'., but a regressor takes numbers"):
        kind().fit(np.arange(20.0).reshape(-1, 1), ["1.5", "b"] * 10)


@pytest.mark.parametrize("chosen, message", [
    ([0, 0, 1], r"repeats the indices \[0, 0, 1\]: a mask holds True and False"),
    ([20], "use names that are text"),
])
def test_categorical_features_that_are_neither_a_mask_nor_names(chosen, message):
    X = pd.DataFrame({10: np.arange(20.0), 20: np.arange(20) % 3, 30: np.arange(20) % 2})
    with pytest.raises(ValueError, match=message):
        CurvatureTreeRegressor(categorical_features=chosen).fit(X, X[10])


def test_names_and_indices_may_be_mixed():
    X = pd.DataFrame({"a": np.arange(20) % 3, "b": np.arange(20.0), "c": np.arange(20) % 5})
    encoder = CurvatureTreeRegressor(categorical_features=["c", 0]).fit(X, X["b"]).encoder_
    assert [categories is not None for categories in encoder.categories] == [True, False, True]


def test_categories_that_look_alike_are_in_quotes():
    X = pd.DataFrame({"s": np.array(["missing", None, "u", "u"], dtype=object)[np.arange(40) % 4]})
    text = export_text(CurvatureTreeRegressor().fit(X, 1.0 * (X["s"] == "u") + np.arange(40) % 5))
    assert "'missing'" in text and " missing " in text


@pytest.mark.parametrize("cls", [SymmetricBoostingRegressor, CurvatureBoostingRegressor])
def test_targets_to_validate_with_that_are_too_large(cls):
    with pytest.raises(ValueError, match="loss of the evaluation samples is not finite"):
        cls(max_iter=2).fit(X, y, eval_set=(X, np.full(len(X), 1e200)))
    with pytest.raises(ValueError, match="sample_weight_val needs X_val and y_val"):
        cls(max_iter=2).fit(X, y, sample_weight_val=y)


def test_gradients_that_are_too_large():
    def loss(y, raw):
        return 1e200 * (raw - y), np.ones_like(raw)

    for cls in (SymmetricBoostingRegressor, CurvatureBoostingRegressor):
        with pytest.raises(ValueError, match="gradients"):
            cls(max_iter=2, loss=loss).fit(X, y)
