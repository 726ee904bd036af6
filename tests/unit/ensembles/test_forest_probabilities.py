"""Probabilities of forests, calibrated by the samples that trees leave out."""

import numpy as np
import pytest
from fctree import CurvatureForestClassifier
from fctree.ensembles import forest_classifier
from fctree.oblique import calibration
from fctree.oblique.calibration import find_calibration, raised
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import balanced_accuracy_score, log_loss
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


def test_exponent_and_shifts_have_the_least_loss_out_of_bag():
    X = RNG.standard_normal((400, 3))
    y = (X[:, 0] + RNG.standard_normal(400) > 0).astype(int)
    weight = RNG.uniform(0.5, 1.5, 400)
    model = CurvatureForestClassifier(n_estimators=30, oob_score=True, random_state=0)
    model.fit(X, y, sample_weight=weight)
    share = model.oob_decision_function_
    exponent, shifts = model.exponent_, model.class_shifts_
    plain = (share * np.exp(-shifts)) ** (1.0 / exponent)  # of which raised makes the same again, but for the floor
    plain = plain / plain.sum(axis=1, keepdims=True) * 1.02 - 0.01
    np.testing.assert_allclose(raised(plain, exponent, shifts), share, rtol=1e-9)
    found = find_calibration(plain, np.eye(2)[y], weight)
    np.testing.assert_allclose(np.append(*found), np.append(exponent, shifts), rtol=1e-6)

    def loss(exponent, shifts):
        """The log-loss, that of the additional sample and the penalty."""
        own = log_loss(y, raised(plain, exponent, shifts), sample_weight=weight, normalize=False)
        return own + min(weight.mean(), 1.0) * (np.log(1.0 + np.exp(exponent)) + 1.5 * shifts @ shifts)

    for change in (0.97, 1.03):
        assert loss(exponent, shifts) < min(loss(exponent * change, shifts), loss(exponent, shifts * change))
    assert shifts.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rare_classes_are_predicted_if_their_weights_are_large(n_classes):
    rng = np.random.default_rng(0)
    X, X_test = rng.standard_normal((2, 2000, 4))
    cuts = (1.5, 1.9)[:n_classes - 1]
    y, y_test = (np.digitize(Z[:, 0] + 0.5 * rng.standard_normal(len(Z)), cuts) for Z in (X, X_test))
    model = CurvatureForestClassifier(n_estimators=20, class_weight="balanced", random_state=0).fit(X, y)
    assert balanced_accuracy_score(y_test, model.predict(X_test)) > (0.85, 0.6)[n_classes - 2]
    scores, label = model.decision_function(X_test), model.predict_proba(X_test).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X_test), label)
    np.testing.assert_array_equal(scores > 0.0 if n_classes == 2 else scores.argmax(axis=1), label)


def test_calibration_by_predictions_worse_than_chance():
    """The exponent stays positive, and the shifts give the frequencies of the classes."""
    y = np.arange(300) % 3
    wrong = np.roll(np.eye(3)[y], 1, axis=1)
    exponent, shifts = find_calibration(wrong, np.eye(3)[y], None)
    assert 0.0 < exponent < 1e-2
    np.testing.assert_allclose(raised(wrong, exponent, shifts), 1.0 / 3.0, atol=0.01)


@pytest.mark.parametrize("options, y", [
    ({"bootstrap": False}, np.arange(40) % 2), ({}, np.zeros(40)), ({"bootstrap": False}, np.zeros(40))])
def test_nothing_to_calibrate_by(options, y):
    X = RNG.standard_normal((40, 2))
    model = CurvatureForestClassifier(n_estimators=3, **options).fit(X, y)
    assert model.exponent_ is None
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_huge_weight_does_not_make_the_calibration_search_for_long(monkeypatch):
    """Beside it a step is rounding: it is halved once, and not taken."""
    rng = np.random.default_rng(2)
    probabilities, shares = rng.dirichlet(np.ones(3), 400), np.eye(3)[rng.integers(0, 3, 400)]
    weight = np.ones(400)
    weight[0] = 1e12
    calls, loss = [], calibration._ShiftedLoss.__call__

    def counted(self, parameters):
        calls.append(parameters)
        return loss(self, parameters)

    monkeypatch.setattr(calibration._ShiftedLoss, "__call__", counted)
    found = find_calibration(probabilities, shares, weight)
    assert len(calls) < 200 and np.isfinite(found[0])


@pytest.mark.parametrize("seed", range(4))
def test_rounding_does_not_end_the_search_at_the_least_exponent(seed, monkeypatch):
    """Where probabilities tell nothing the step to the bound may be as short as rounding; shifts are found behind it."""
    rng, given = np.random.default_rng(seed), []
    X, y, weight = rng.random((15, 30)), rng.integers(0, 3, 15), rng.integers(0, 5, 15)

    def kept(*arguments):
        given.append(arguments)
        return find_calibration(*arguments)

    monkeypatch.setattr(forest_classifier, "find_calibration", kept)
    forest = CurvatureForestClassifier(n_estimators=20, random_state=0).fit(X, y, sample_weight=weight)
    probabilities, *rest = given[-1]
    for _ in range(20):
        exponent, shifts = find_calibration(probabilities * (1 + 1e-15 * rng.normal(size=probabilities.shape)), *rest)
        assert exponent == pytest.approx(forest.exponent_, abs=1e-6)
        np.testing.assert_allclose(shifts, forest.class_shifts_, rtol=0, atol=1e-6)
