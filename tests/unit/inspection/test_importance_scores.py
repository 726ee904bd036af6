"""Scores are scikit-learn's, and their influence functions the derivatives that they should be."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LinearRegression

from fctree import CurvatureBoostingRegressor, SoftTreeRegressor, SymmetricBoostingRegressor, TreeNTKRegressor
from fctree.inspection import shapley_importance, variable_importance
from fctree.inspection.importance import _Comparison
from fctree.inspection.intervals import wald
from fctree.inspection.scores import SCORES, Target, find_score, shaped

CLASS_SCORES = ("neg_mean_squared_error", "neg_brier_score", "accuracy", "neg_log_loss", "roc_auc")


def make_case(kind, weighted, n=60, seed=0):
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    if kind == "regression":
        y = rng.standard_normal(n)
        return Target(y, weight, None), y + rng.standard_normal(n)
    if kind == "positive":
        y = rng.gamma(2.0, size=(n, 2))
        return Target(y, weight, None), y * rng.gamma(3.0, size=(n, 2))
    outputs = rng.dirichlet(np.ones(kind), n).round(2)  # rounded: some ties
    outputs[:, 0] = 1 - outputs[:, 1:].sum(axis=1)
    return Target(rng.integers(kind, size=n), weight, kind), outputs


CASES = [("regression", s) for s in ("neg_mean_squared_error", "neg_root_mean_squared_error", "r2")]
CASES += [("positive", s) for s in ("neg_root_mean_squared_error", "neg_mean_poisson_deviance", "neg_mean_gamma_deviance")]
CASES += [(2, s) for s in CLASS_SCORES]
CASES += [(3, s) for s in CLASS_SCORES if s != "roc_auc"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind, scoring", CASES)
def test_influence_is_the_derivative(kind, scoring, weighted):
    """More weight on a sample moves the score by its influence."""
    target, outputs = make_case(kind, weighted)
    value, influence = SCORES[scoring](target, outputs)
    weight = np.ones(len(outputs)) if target.weight is None else target.weight
    assert abs(np.average(influence, weights=weight)) < 1e-12
    step = 1e-6 * weight.sum()
    for i in range(0, len(outputs), 7):
        more = weight.copy()
        more[i] += step
        moved, _ = SCORES[scoring](Target(target.y, more, target.n_classes), outputs)
        # A difference quotient with a step of 1e-6 is exact to about that.
        assert (moved - value) / 1e-6 == pytest.approx(influence[i], rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_those_of_scikit_learn(weighted):
    target, outputs = make_case("regression", weighted)
    options = {"sample_weight": target.weight}
    value = {name: score(target, outputs)[0] for name, score in list(SCORES.items())[:3]}
    expected = -metrics.mean_squared_error(target.y, outputs, **options)
    assert value["neg_mean_squared_error"] == pytest.approx(expected)
    assert value["r2"] == pytest.approx(metrics.r2_score(target.y, outputs, **options))
    assert value["neg_root_mean_squared_error"] == pytest.approx(-np.sqrt(-expected))

    target, outputs = make_case("positive", weighted)
    roots = np.sqrt(metrics.mean_squared_error(target.y, outputs, multioutput="raw_values", **options))
    assert SCORES["neg_root_mean_squared_error"](target, outputs)[0] == pytest.approx(-roots.mean())
    target = Target(target.y[:, 0], target.weight, None)
    for name in ("poisson", "gamma"):
        deviance = getattr(metrics, f"mean_{name}_deviance")(target.y, outputs[:, 0], **options)
        found = SCORES[f"neg_mean_{name}_deviance"](target, outputs[:, 0])[0]
        assert found == pytest.approx(-deviance)

    target, outputs = make_case(2, weighted)
    options = {"sample_weight": target.weight}
    value = {name: SCORES[name](target, outputs)[0] for name in CLASS_SCORES}
    labels = outputs.argmax(axis=1)
    assert value["accuracy"] == pytest.approx(
        metrics.accuracy_score(target.y, labels, **options)
    )
    auc = metrics.roc_auc_score(target.y, outputs[:, 1], **options)
    assert value["roc_auc"] == pytest.approx(auc)
    brier = metrics.brier_score_loss(target.y, outputs[:, 1], **options)
    assert value["neg_mean_squared_error"] == value["neg_brier_score"] == pytest.approx(-brier)
    clipped = np.clip(outputs, 1e-15, 1.0)
    log_loss = metrics.log_loss(target.y, clipped, **options)
    assert value["neg_log_loss"] == pytest.approx(-log_loss, rel=1e-6)


def test_predictions_have_the_shape_of_the_targets():
    target = Target(np.zeros(4), None, None)
    assert shaped(target, np.zeros((4, 1))).shape == (4,)
    for wrong in (np.zeros((1, 4)), np.zeros((2, 2)), np.zeros(3)):
        with pytest.raises(ValueError, match="predictions have the shape"):
            shaped(target, wrong)


@pytest.mark.parametrize("method, share", [("early_stopping", 0.1), ("dropout", 0.1), ("retrain", 0.2)])
def test_errors_of_tests_have_a_part_of_those_of_disjoint_halves(method, share):
    target, outputs = make_case("regression", False)
    study = SimpleNamespace(
        target=target, full_outputs=lambda method: outputs, score=SCORES["neg_mean_squared_error"]
    )
    others = outputs + np.random.default_rng(1).standard_normal(len(outputs))
    _, _, stderr, null = _Comparison(study, method, False).importance(others)
    variances = [np.var((target.y - found) ** 2) / len(outputs) for found in (outputs, others)]
    assert null**2 - stderr**2 == pytest.approx(share * 2.0 * sum(variances))


@pytest.mark.parametrize("value, stderr, n_samples, trusted", [
    (1.0, 0.1, 10, True), (1.0, 0.1, 9, False), (1.0, 0.0, 10, False), (0.4, 0.1, 10, True), (0.39, 0.1, 10, False),
])  # fmt: skip
def test_intervals_to_trust(value, stderr, n_samples, trusted):
    found = wald(np.array([value]), np.array([stderr]), 0.95, np.array([0.1]), n_samples)
    assert found.trusted.tolist() == [trusted]


def test_weight_two_is_the_sample_twice():
    for kind, scoring in CASES:
        target, outputs = make_case(kind, False)
        weight = np.ones(len(outputs))
        weight[:10] = 2.0
        rows = np.concatenate([np.arange(len(outputs)), np.arange(10)])
        weighted = SCORES[scoring](Target(target.y, weight, target.n_classes), outputs)[0]
        repeated = SCORES[scoring](target.take(rows), outputs[rows])[0]
        assert weighted == pytest.approx(repeated), scoring


def test_exact_predictions_have_no_root_mean_squared_error():
    value, influence = SCORES["neg_root_mean_squared_error"](Target(np.arange(3.0), None, None), np.arange(3.0))
    assert value == 0.0 and not influence.any()


def test_auc_error_is_that_of_repetitions():
    values, variances = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        y = rng.integers(2, size=200)
        score = y + rng.standard_normal(200)
        target = Target(y, None, 2)
        value, influence = SCORES["roc_auc"](target, np.column_stack([-score, score]))
        values.append(value)
        variances.append(target.error_of_mean(influence) ** 2)
    # A standard deviation of 300 repetitions is known to 4 %.
    assert np.std(values) / np.sqrt(np.mean(variances)) == pytest.approx(1.0, abs=0.15)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [-490, -270, 260, 490])
@pytest.mark.parametrize("scoring, power", [("neg_mean_squared_error", 2), ("neg_root_mean_squared_error", 1), ("r2", 0)])
@pytest.mark.parametrize("importance", [
    lambda *data, **options: variable_importance(*data, **options),
    lambda *data, **options: variable_importance(*data, sample_splitting=True, **options),
    lambda *data, **options: shapley_importance(*data, n_subsets=12, **options),
], ids=["variable", "split", "Shapley"])
def test_errors_are_those_of_any_unit(importance, scoring, power, exponent):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = np.abs(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(120)
    model = SymmetricBoostingRegressor(max_iter=5, tol=0.0, random_state=0)
    plain, scaled = (importance(model, X, y * unit, scoring=scoring, random_state=0) for unit in (1.0, 2.0**exponent))
    unit = 2.0 ** (power * exponent)
    np.testing.assert_array_equal(scaled.importances, plain.importances * unit)
    np.testing.assert_array_equal(scaled.stderr, plain.stderr * unit)
    np.testing.assert_array_equal(scaled.p_values, plain.p_values)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [-700, 700])
@pytest.mark.parametrize("model", [TreeNTKRegressor(alpha=0.1), SoftTreeRegressor(max_epochs=20, tol=0.0, random_state=0)], ids=repr)
def test_training_stops_by_the_same_rounds_in_any_unit(model, exponent):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(120)
    plain, scaled = (variable_importance(model, X, y * unit, scoring="r2", random_state=0) for unit in (1.0, 2.0**exponent))
    assert scaled.n_iter.tolist() == plain.n_iter.tolist()
    # Standardised targets differ by rounding.
    np.testing.assert_allclose(scaled.importances, plain.importances, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", [
    TreeNTKRegressor(alpha=1e-6), CurvatureBoostingRegressor(max_iter=15, tol=0.0, random_state=0)], ids=repr)
def test_training_does_not_stop_for_the_output_of_the_largest_numbers(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((160, 3))
    y = np.column_stack([X[:, 0] + rng.standard_normal(160), np.cos(2.0 * X[:, 1]) + 0.01 * rng.standard_normal(160)])
    plain, scaled = (
        variable_importance(model, X, y * unit, scoring="r2", random_state=0) for unit in ([1.0, 1.0], [1.0, 2.0**10])
    )
    # Sums over trees in other units round otherwise.
    np.testing.assert_allclose(scaled.importances, plain.importances, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "scoring, classes, message",
    [
        ("mse", None, "scoring must be one of"),
        (None, None, "scoring must be one of"),
        ("accuracy", None, "for classifiers"),
        ("r2", [0, 1], "for regressors"),
        ("neg_root_mean_squared_error", [0, 1], "for regressors"),
        ("neg_brier_score", None, "for classifiers"),
        ("neg_mean_gamma_deviance", [0, 1], "'neg_mean_gamma_deviance' is for regressors"),
        ("roc_auc", [0, 1, 2], "needs two classes, got 3"),
    ],
)
def test_unsuitable_scores(scoring, classes, message):
    with pytest.raises(ValueError, match=message):
        find_score(scoring, classes)


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_deviances_are_of_positive_numbers(name):
    score, ones = SCORES[f"neg_mean_{name}_deviance"], np.ones(3)
    for least in (0.0, -1.0):
        with pytest.raises(ValueError, match=f"{name}_deviance' needs predictions above 0, .* predicts {least:g}: "):
            score(Target(ones, None, None), np.array([1.0, least, 2.0]))
    with pytest.raises(ValueError, match=f"{name}_deviance' needs targets .* 0.*got -1"):
        score(Target(-ones, None, None), ones)
    zeros = Target(np.zeros(3), None, None)
    if name == "gamma":
        with pytest.raises(ValueError, match="needs targets above 0, got 0"):
            score(zeros, ones)
    else:
        assert score(zeros, ones)[0] == -2.0


@pytest.mark.parametrize("method", ["early_stopping", "dropout", "retrain"])
def test_models_of_counts_are_judged_by_their_deviance(method):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = rng.poisson(np.exp(X[:, 1]))
    model = SymmetricBoostingRegressor(loss="poisson", max_iter=30, max_depth=2)
    options = {"scoring": "neg_mean_poisson_deviance", "method": method, "random_state": 0}
    result = variable_importance(model, X, y, **options)
    assert result.importances.argmax() == 1 and result.importances[1] > 0.3
    everything = variable_importance(model, X, y, groups=[[0, 1, 2]], **options)
    assert everything.importances[0] > 0.3
    shares = shapley_importance(model, X, y, **options)
    assert shares.importances.sum() == pytest.approx(shares.full_score - shares.empty_score)
    with pytest.raises(ValueError, match="predictions above 0"):
        variable_importance(LinearRegression(), X, y, **{**options, "method": "retrain"})


@pytest.mark.parametrize("unit", [2.0**-700, 2.0**700])
def test_r2_of_any_unit(unit):
    y, outputs = np.random.default_rng(0).standard_normal((2, 50))
    value, influence = SCORES["r2"](Target(y, None, None), outputs)
    found, of_unit = SCORES["r2"](Target(y * unit, None, None), outputs * unit)
    assert found == value
    np.testing.assert_array_equal(of_unit, influence)


def test_r2_of_equal_targets():
    with pytest.raises(ValueError, match="not all equal"):
        SCORES["r2"](Target(np.ones(5), None, None), np.zeros(5))
