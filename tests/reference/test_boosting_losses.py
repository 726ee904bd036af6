"""The losses: derivatives against finite differences, values and baselines against others.

The literal losses are differentiated here; test_boosting_twin.py holds the estimators to
them.
"""

import numpy as np
import pytest
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from reference.literal_losses import of_loss, make_loss
from scipy.optimize import minimize_scalar
from sklearn import metrics

CASES = [("squared_error", None), ("absolute_error", None), ("huber", 0.7), ("quantile", 0.3),
         ("poisson", None), ("gamma", None)]
STEP = 1e-5  # central differences are good to STEP^2 times the third derivative


def positive_targets(n=60, seed=0):
    return np.exp(np.random.default_rng(seed).standard_normal(n))


def differences(loss, y, f, column):
    """First and second central differences of the loss in one score, (n,)."""
    shift = STEP * (np.arange(f.shape[1]) == column)
    low, middle, high = (loss.value(y, f + sign * shift).sum(axis=1) for sign in (-1, 0, 1))
    return (high - low) / (2 * STEP), (high - 2 * middle + low) / STEP**2


@pytest.mark.parametrize("name, quantile", CASES)
def test_gradient_is_minus_the_derivative(name, quantile):
    y = positive_targets()[:, None]
    f = np.random.default_rng(1).standard_normal(y.shape)
    loss = make_loss(name, quantile)
    if name == "huber":
        loss.prepare(y, f, np.ones(len(y)))
    slope, curvature = differences(loss, y, f, 0)
    # What is called the gradient of the squared error is that of its half.
    factor = 2 if name == "squared_error" else 1
    np.testing.assert_allclose(factor * loss.gradient(y, f)[:, 0], -slope, rtol=1e-6, atol=1e-6)
    if name in ("poisson", "gamma"):
        np.testing.assert_allclose(loss.hessian(y, f)[:, 0], curvature, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_log_loss_gradient(n_classes):
    rng = np.random.default_rng(2)
    y = rng.integers(0, n_classes, (50, 1)).astype(float)
    f = rng.standard_normal((50, 1 if n_classes == 2 else n_classes))
    loss = make_loss("log_loss", n_classes=n_classes)
    for column in range(f.shape[1]):
        slope, curvature = differences(loss, y, f, column)
        np.testing.assert_allclose(loss.gradient(y, f)[:, column], -slope, rtol=1e-6, atol=1e-6)
        factor = 1 if n_classes == 2 else n_classes / (n_classes - 1)
        np.testing.assert_allclose(loss.hessian(y, f)[:, column], factor * curvature, rtol=1e-4,
                                   atol=1e-4)


METRICS = {
    "squared_error": metrics.mean_squared_error,
    "absolute_error": metrics.mean_absolute_error,
    "quantile": lambda y, p, sample_weight: metrics.mean_pinball_loss(
        y, p, sample_weight=sample_weight, alpha=0.3),
    "poisson": lambda y, p, sample_weight: 0.5 * metrics.mean_poisson_deviance(
        y, p, sample_weight=sample_weight),
    "gamma": lambda y, p, sample_weight: 0.5 * metrics.mean_gamma_deviance(
        y, p, sample_weight=sample_weight),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", METRICS)
def test_scores_are_scikit_learns_metrics(name, weighted):
    y, X = positive_targets(80), np.random.default_rng(3).standard_normal((80, 3))
    weight = positive_targets(80, seed=4) if weighted else None
    model = SymmetricBoostingRegressor(**of_loss(name, 0.3), max_iter=5, max_depth=2)
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


@pytest.mark.parametrize("name, quantile", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_constant_is_better_than_the_baseline(name, quantile, weighted):
    y, w = positive_targets(41, seed=6), np.ones(41)
    if weighted:
        w = np.random.default_rng(7).uniform(0.2, 3, 41)
    model = SymmetricBoostingRegressor(loss=name, quantile=quantile, max_iter=1)
    model.fit(np.zeros((41, 1)), y, sample_weight=w if weighted else None)
    if name == "huber":  # starts from the median, from which delta follows
        order = np.argsort(y)
        share = np.cumsum(w[order]) / w.sum()
        assert model.baseline_[0] == y[order][np.searchsorted(share, 0.5)]
        return
    loss = make_loss(name, quantile)

    def total(constant):
        return w @ loss.value(y[:, None], np.full((41, 1), constant))[:, 0]

    best = minimize_scalar(total, bracket=(-3, 3), method="brent")
    assert total(model.baseline_[0]) <= best.fun * (1 + 1e-12)


@pytest.mark.parametrize("name, quantile", CASES)
def test_each_leaf_value_lowers_the_loss_of_its_leaf(name, quantile):
    y, X = positive_targets(200, seed=8), np.random.default_rng(9).standard_normal((200, 3))
    model = SymmetricBoostingRegressor(loss=name, quantile=quantile, max_iter=1, max_depth=2,
                                       learning_rate=0.5, random_strength=0.0)
    model.fit(X, y)
    loss = make_loss(name, quantile)
    before = np.full((200, 1), model.baseline_[0])
    if name == "huber":
        loss.prepare(y[:, None], before, np.ones(200))
    leaf = model.apply(X)[:, 0]
    after = before + model.trees_.leaf_values[0][leaf]
    for number in np.unique(leaf):
        rows = leaf == number
        assert loss.value(y[rows, None], after[rows]).sum() <= loss.value(
            y[rows, None], before[rows]).sum()
