"""The losses: derivatives against finite differences, values and baselines against others.

Both the core's losses and the literal ones are differentiated here; test_boosting_twin.py holds the
estimators to the literal ones.
"""

from pathlib import Path

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)
from fctree._native.core import Loss
from fctree._training.losses import LOSSES
from loss_cases import REGRESSION_LOSSES, given_parameter, loss_parameters, targets_for
from reference.literal_losses import make_loss
from scipy.optimize import minimize_scalar
from sklearn import metrics

BOOSTERS = [CurvatureBoostingRegressor, SymmetricBoostingRegressor]
ROOT = Path(__file__).resolve().parents[2]
STEP = 1e-5  # central differences are good to STEP^2 times the third derivative


def parameter_of(name):
    return given_parameter(loss_parameters(name))


def positive_targets(n=60, seed=0):
    return np.exp(np.random.default_rng(seed).standard_normal(n))


def literal(name, n_classes=None):
    return make_loss(name, parameter_of(name), n_classes)


def native(name, n_outputs=1):
    return Loss((name, parameter_of(name) or 0.0), n_outputs)


def samples(name, n_outputs, n=60):
    """Targets (n_targets, n) in the domain of a loss, and scores that leave no residual at 0."""
    rng = np.random.default_rng(1)
    raw = rng.standard_normal((n_outputs, n))
    if LOSSES[name].task == "classification":
        return rng.integers(0, max(2, n_outputs), (1, n)).astype(float), raw
    return np.array([targets_for(name, rng.standard_normal(n)) for _ in range(n_outputs)]), raw


def one_by_one(evaluate, raw, k, h):
    """The losses of samples by themselves, their k-th score moved by h."""
    moved = raw.copy()
    moved[k] += h
    return np.array([evaluate(i, np.ascontiguousarray(moved[:, i : i + 1]))
                     for i in range(raw.shape[1])])


CORE_CASES = [(name, 1) for name in LOSSES] + [("poisson", 2), ("log_loss", 3), ("log_loss", 5)]


@pytest.mark.parametrize("name, n_outputs", CORE_CASES)
def test_derivatives_of_the_core_are_those_of_its_values(name, n_outputs):
    """Gradients are d loss / d raw score of the loss that is reported (of its half, for the squared
    error); hessians the second derivative, of a softmax times K / (K - 1), with a log link that of targets
    as they are expected."""
    loss = native(name, n_outputs)
    y, raw = samples(name, n_outputs)
    loss.prepare(y, raw)
    _, gradient, hessian = loss.evaluate(y, raw)

    def value_of(targets):
        return lambda i, scores: loss.evaluate(np.ascontiguousarray(targets[:, i : i + 1]), scores)[0]

    factor = n_outputs / (n_outputs - 1) if name == "log_loss" and n_outputs > 1 else 1.0
    reported = 2.0 if name == "squared_error" else 1.0  # of whose half the gradients are
    for k in range(n_outputs):
        low, high = (one_by_one(value_of(y), raw, k, h) for h in (-STEP, STEP))
        slope = (high - low) / (2 * STEP) / reported
        if name in ("quantile", "absolute_error"):  # smoothed near 0, as the literal losses say
            far = np.abs(y[k] - raw[k]) > 0.03 * np.abs(y - raw).mean()
            assert np.all(np.abs(gradient[k][~far]) < np.abs(slope[~far]) + 1e-8)
        else:
            far = slice(None)
        np.testing.assert_allclose(gradient[k][far], slope[far], rtol=1e-6, atol=1e-8)
        expected = np.exp(raw) if LOSSES[name].link == "log" else y  # derivatives are linear in the target
        low, middle, high = (one_by_one(value_of(expected), raw, k, h) for h in (-STEP, 0.0, STEP))
        curvature = (high - 2 * middle + low) / STEP**2
        if loss.has_hessian:
            # Second differences lose half the digits.
            np.testing.assert_allclose(hessian[k], factor * curvature, rtol=1e-3, atol=1e-4)
        else:
            assert np.all(hessian[k] == 1.0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name, n_outputs", CORE_CASES)
def test_the_core_agrees_with_the_literal_losses(name, n_outputs, weighted):
    loss, twin = native(name, n_outputs), literal(name, 2 if n_outputs == 1 else n_outputs)
    y, raw = samples(name, n_outputs)
    weight = np.random.default_rng(2).uniform(0.2, 3, raw.shape[1]) if weighted else None
    w = np.ones(raw.shape[1]) if weight is None else weight
    loss.prepare(y, raw, weight)
    if hasattr(twin, "prepare"):
        twin.prepare(y.T, raw.T, w)
    total, gradient, hessian = loss.evaluate(y, raw, weight)
    np.testing.assert_allclose(total, w @ twin.value(y.T, raw.T).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(gradient, twin.gradient(y.T, raw.T).T, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(hessian, twin.hessian(y.T, raw.T).T, rtol=1e-11, atol=1e-14)


METRICS = {
    "squared_error": metrics.mean_squared_error,
    "absolute_error": metrics.mean_absolute_error,
    "quantile": lambda y, p, sample_weight: metrics.mean_pinball_loss(
        y, p, sample_weight=sample_weight, alpha=0.3),
    "poisson": lambda y, p, sample_weight: 0.5 * metrics.mean_poisson_deviance(
        y, p, sample_weight=sample_weight),
    "gamma": lambda y, p, sample_weight: 0.5 * metrics.mean_gamma_deviance(
        y, p, sample_weight=sample_weight),
    "tweedie": lambda y, p, sample_weight: 0.5 * metrics.mean_tweedie_deviance(
        y, p, sample_weight=sample_weight, power=1.4),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", METRICS)
def test_scores_are_scikit_learns_metrics(name, weighted):
    y, X = positive_targets(80), np.random.default_rng(3).standard_normal((80, 3))
    weight = positive_targets(80, seed=4) if weighted else None
    parameters = loss_parameters(name, quantile=0.3, power=1.4)
    model = SymmetricBoostingRegressor(**parameters, max_iter=5, max_depth=2)
    model.fit(X, y, sample_weight=weight, eval_set=(X[:30], y[:30]))
    rows = slice(None), slice(30)
    for scores, part, w in zip((model.train_score_, model.validation_score_), rows,
                               (weight, None), strict=True):
        expected = [METRICS[name](y[part], p[part], sample_weight=w)
                    for p in model.staged_predict(X)]
        np.testing.assert_allclose(-scores[1:], expected, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_classifier_scores_are_minus_the_log_loss(n_classes):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((80, 3)), np.arange(80) % n_classes
    weight = rng.uniform(0.5, 2, 80)
    model = SymmetricBoostingClassifier(max_iter=5, max_depth=2).fit(X, y, sample_weight=weight)
    expected = [metrics.log_loss(y, p, sample_weight=weight)
                for p in model.staged_predict_proba(X)]
    np.testing.assert_allclose(-model.train_score_[1:], expected, rtol=1e-9)


@pytest.mark.parametrize("name", REGRESSION_LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_constant_is_better_than_the_baseline(name, weighted):
    y, w = targets_for(name, np.random.default_rng(6).standard_normal(41)), np.ones(41)
    if weighted:
        w = np.random.default_rng(7).uniform(0.2, 3, 41)
    model = SymmetricBoostingRegressor(**loss_parameters(name), max_iter=1)
    model.fit(np.zeros((41, 1)), y, sample_weight=w if weighted else None)
    if name == "huber":  # starts from the median, from which delta follows
        order = np.argsort(y)
        share = np.cumsum(w[order]) / w.sum()
        assert model.baseline_[0] == y[order][np.searchsorted(share, 0.5)]
        return
    loss = literal(name)

    def total(constant):
        return w @ loss.value(y[:, None], np.full((41, 1), constant))[:, 0]

    best = minimize_scalar(total, bracket=(-3, 3), method="brent")
    assert total(model.baseline_[0]) <= best.fun * (1 + 1e-12)


@pytest.mark.parametrize("name", REGRESSION_LOSSES)
def test_each_leaf_value_lowers_the_loss_of_its_leaf(name):
    y = targets_for(name, positive_targets(200, seed=8))
    X = np.random.default_rng(9).standard_normal((200, 3))
    model = SymmetricBoostingRegressor(**loss_parameters(name), max_iter=1, max_depth=2,
                                       learning_rate=0.5, random_strength=0.0)
    model.fit(X, y)
    loss = literal(name)
    before = np.full((200, 1), model.baseline_[0])
    if name == "huber":
        loss.prepare(y[:, None], before, np.ones(200))
    leaf = model.apply(X)[:, 0]
    after = before + model.trees_.leaf_values[0][leaf]
    for number in np.unique(leaf):
        rows = leaf == number
        if rows.sum() < 7:  # medians of so few take their siblings' samples
            continue
        assert loss.value(y[rows, None], after[rows]).sum() <= loss.value(
            y[rows, None], before[rows]).sum()


def test_every_entry_of_the_registry_makes_sense():
    assert len(LOSSES) >= 7
    for name, info in LOSSES.items():
        assert info.task in ("regression", "classification")
        assert info.link in ("identity", "log", "logit")
        assert info.domain in ("real", "non_negative", "positive", "classes")
        assert (info.domain == "classes") == (info.task == "classification")
        if info.parameter is not None:
            assert info.low < info.high
            assert np.isnan(info.default) or info.low < info.default < info.high
        assert native(name).leaf_rule in ("newton", "quantile", "clipped_mean")


@pytest.mark.parametrize("kind", BOOSTERS)
def test_tweedie_is_between_poisson_and_gamma(kind):
    """Near its ends the deviance, and so the model, is that of the other two."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 3))
    y = np.exp(0.5 * X[:, 0] + 0.3 * rng.standard_normal(300))
    settings = {"max_iter": 5, "random_state": 0, "max_depth": 2}

    def predicted(**loss):
        return kind(**settings, **loss).fit(X, y).predict(X)

    for power, limit in ((1 + 1e-9, "poisson"), (2 - 1e-9, "gamma")):
        np.testing.assert_allclose(predicted(loss=("tweedie", power)), predicted(loss=limit),
                                   rtol=1e-5)
    middle = predicted(loss="tweedie")
    np.testing.assert_array_equal(middle, predicted(loss=("tweedie", 1.5)))
    np.testing.assert_array_equal(middle, predicted(loss=["tweedie", 1.5]))  # as JSON has it
    assert np.abs(middle - predicted(loss="poisson")).max() > 1e-3


@pytest.mark.parametrize("kind", BOOSTERS)
def test_tweedie_learns_amounts_with_a_mass_at_zero(kind):
    """A compound Poisson sum of gamma claims: better than the constant, on new samples."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (3000, 3))
    count = rng.poisson(np.exp(2.0 * X[:, 0] - 0.5))
    y = np.where(count > 0, rng.gamma(2.0 * np.maximum(count, 1)) * np.exp(1.5 * X[:, 1]), 0.0)
    assert 0.2 < np.mean(y == 0) < 0.8
    model = kind(loss=("tweedie", 1.4), max_iter=30, max_depth=3, random_state=0)
    model.fit(X[:2000], y[:2000])
    deviance = metrics.mean_tweedie_deviance(y[2000:], model.predict(X[2000:]), power=1.4)
    constant = metrics.mean_tweedie_deviance(y[2000:], np.full(1000, y[:2000].mean()), power=1.4)
    assert deviance < 0.75 * constant


def test_a_loss_that_is_not_in_the_list():
    with pytest.raises(ValueError, match="no loss named 'least_squares'"):
        Loss(("least_squares", 0.0), 1)


@pytest.mark.parametrize("parameters, message", [
    ({"quantile": 0.3}, r"quantile=0.3 is for loss='huber' or 'quantile', got loss='squared_error'"),
    ({"loss": "poisson", "quantile": 0.3}, "got loss='poisson'"),
    ({"loss": ("quantile", 0.4), "quantile": 0.3}, r"quantile=0.3 is for .*, got loss=\('quantile', 0.4\)"),
    ({"loss": ("gamma", 1.3)}, r"\('gamma', 1.3\) must be a name, or a tuple .* \['huber', .*'tweedie'\]"),
    ({"loss": ["gamma", 1.3]}, r"\['gamma', 1.3\] must be a name, or a tuple"),
    ({"loss": ("tweedie",)}, "must be a name, or a tuple"),
    ({"loss": ("tweedie", 2.0)}, "the power must be a number between 1 and 2"),
    ({"loss": ("tweedie", "high")}, "the power must be a number"),
    ({"loss": "quantile"}, "needs the parameter quantile, between 0 and 1"),
])
def test_a_parameter_that_the_loss_does_not_read(parameters, message):
    X, y = np.arange(20.0)[:, None], np.arange(1.0, 21.0)
    for kind in BOOSTERS:
        with pytest.raises(ValueError, match=message):
            kind(**parameters, max_iter=2).fit(X, y)


@pytest.mark.parametrize("page", ["boosting", "ensembles"])
def test_the_guides_name_every_loss(page):
    text = (ROOT / "docs" / "guide" / f"{page}.md").read_text()
    for name in LOSSES:
        assert f"`{name}`" in text or f'"{name}"' in text, name
