"""Probabilities of forests, calibrated by the samples that trees leave out."""

import numpy as np
import pytest
from fctree import CurvatureForestClassifier
from fctree.oblique.calibration import find_exponent, raised
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

RNG = np.random.default_rng(0)


def log_losses(model, X, y):
    """Log-losses of the probabilities, and of those before they are raised."""
    found = model.predict_proba(X)
    exponent, model.exponent_ = model.exponent_, None
    plain = np.clip(model.predict_proba(X), 1e-6, None)
    model.exponent_ = exponent
    return log_loss(y, found), log_loss(y, plain / plain.sum(axis=1, keepdims=True))


def test_classes_that_are_told_apart():
    """A mean over trees is never sure, even where it is always right."""
    X, y = load_digits(n_class=5, return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, train_size=300, random_state=0, stratify=y)
    model = CurvatureForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    found, plain = log_losses(model, X_test, y_test)
    assert model.exponent_ > 2.0
    assert found < 0.5 * plain


def test_classes_that_are_not():
    X, y = RNG.standard_normal((300, 3)), RNG.integers(2, size=300)
    model = CurvatureForestClassifier(n_estimators=40, random_state=0).fit(X, y)
    found, plain = log_losses(model, RNG.standard_normal((3000, 3)), RNG.integers(2, size=3000))
    assert model.exponent_ < 0.7
    assert found < min(plain, 0.72)


def test_labels_stay_and_no_probability_is_0():
    X, y = load_iris(return_X_y=True)
    model = CurvatureForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(X))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert probabilities.min() > 0.0


def test_the_exponent_has_the_least_loss_out_of_bag():
    X = RNG.standard_normal((400, 3))
    y = (X[:, 0] + RNG.standard_normal(400) > 0).astype(int)
    weight = RNG.uniform(0.5, 1.5, 400)
    model = CurvatureForestClassifier(n_estimators=30, oob_score=True, random_state=0)
    model.fit(X, y, sample_weight=weight)
    share = model.oob_decision_function_
    plain = share ** (1.0 / model.exponent_)  # of which raised makes the same again, but for the floor
    plain = plain / plain.sum(axis=1, keepdims=True) * 1.02 - 0.01
    np.testing.assert_allclose(raised(plain, model.exponent_), share, rtol=1e-9)
    assert find_exponent(plain, np.eye(2)[y], weight) == pytest.approx(model.exponent_, rel=1e-9)
    losses = [log_loss(y, raised(plain, model.exponent_ * f), sample_weight=weight) for f in (0.8, 0.97, 1.03, 1.25)]
    assert log_loss(y, share, sample_weight=weight) < min(losses)


@pytest.mark.parametrize("options, y", [
    ({"bootstrap": False}, np.arange(40) % 2), ({}, np.zeros(40)), ({"bootstrap": False}, np.zeros(40))])
def test_nothing_to_calibrate_by(options, y):
    X = RNG.standard_normal((40, 2))
    model = CurvatureForestClassifier(n_estimators=3, **options).fit(X, y)
    assert model.exponent_ is None
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
