"""The temperature of a classification tree's probabilities, and the scores that it is fitted to."""

import numpy as np
import pytest
from fctree import CurvatureTreeClassifier, FCODTClassifier
from fctree._native import oblique as _native
from fctree.oblique.calibration import find_temperature
from fctree.oblique.class_scores import class_indicators
from fctree.oblique.parameters import native_tree_params
from free_tree import FreeTreeRegressor
from reference.tree_comparison import smooth_table
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict


def left_out_scores(model, X, Y, weight=None):
    settings = model._settings()
    params = native_tree_params(settings, len(X), impurity_scale=1.0)
    Y = Y.reshape(len(X), -1)
    scores = np.full(Y.shape, np.nan)
    _native.grow(X, Y, weight, params=params, n_threads=1,
                 left_out=scores)
    return scores


@pytest.mark.parametrize("model", [
    FreeTreeRegressor(), FreeTreeRegressor(fit_intercept=False, alpha=0.1),
    FreeTreeRegressor(leaf_model="constant"), FreeTreeRegressor(alpha=0.0)], ids=str)
@pytest.mark.parametrize("n_samples", [60, 8])
def test_a_root_is_fitted_again_without_each_sample(model, n_samples):
    """Also with fewer samples than features; without a penalty those say nothing."""
    X, Y = smooth_table(n_samples, 12 if n_samples == 8 else 4, 2, seed=1)
    model = clone(model).set_params(max_depth=0)
    found = left_out_scores(model, X, Y)
    if n_samples == 8 and model.alpha == 0.0:
        assert np.all(np.isnan(found))
        return
    for i in range(n_samples):
        rest = np.arange(n_samples) != i
        expected = clone(model).fit(X[rest], Y[rest]).predict(X[i : i + 1])
        # Sums of some tens of products, solved; 1e-10 of the diagonal is added for leverages.
        np.testing.assert_allclose(found[i], expected[0], rtol=1e-6, atol=1e-8)


def test_weights_are_numbers_of_samples():
    X, Y = smooth_table(50, 3, 1, seed=2)
    times = np.random.default_rng(0).integers(0, 4, 50)
    model = FreeTreeRegressor(max_depth=1, min_samples_leaf=1, directions="all",
                              ridge_criterion=True, standardize=True)
    weighted = left_out_scores(model, X, Y, times.astype(float))
    repeated = left_out_scores(model, np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    assert np.all(np.isnan(weighted[times == 0]))
    np.testing.assert_allclose(np.repeat(weighted, times, axis=0), repeated, rtol=1e-7, atol=1e-9)


def test_leaves_stand_for_themselves():
    """Children under the ridge criterion are drawn to their parent by pseudo-samples, which stay."""
    X, Y = smooth_table(200, 3, 1, seed=3)
    model = FreeTreeRegressor(max_depth=1, min_samples_leaf=20, directions="axis",
                              ridge_criterion=True, split_margin=0.0, parent_weight=0.0,
                              feature_concatenation=False)
    found = left_out_scores(model, X, Y)
    leaf = clone(model).fit(X, Y).apply(X)
    assert len(set(leaf)) == 2
    for i in range(0, 200, 20):
        rest = (leaf == leaf[i]) & (np.arange(200) != i)
        alone = FreeTreeRegressor(max_depth=0).fit(X[rest], Y[rest]).predict(X[i : i + 1])
        np.testing.assert_allclose(found[i], np.ravel(alone), rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_temperature_has_the_least_loss(n_classes):
    rng = np.random.default_rng(0)
    labels = rng.integers(n_classes, size=300)
    scores = class_indicators(labels, n_classes) * 0.4 + 0.3 * rng.standard_normal(
        (300, 1 if n_classes == 2 else n_classes))
    weight = rng.uniform(0.5, 2.0, 300)
    temperature = find_temperature(scores, np.eye(n_classes)[labels], weight)
    columns = np.hstack([1 - scores, scores]) if n_classes == 2 else scores

    def loss(t):
        logits = t * np.vstack([columns, np.eye(n_classes)[:1]])
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        own = logits[np.arange(301), np.append(labels, 1)]
        return -own @ np.append(weight, 1.0)

    assert loss(temperature) <= min(loss(temperature * f) for f in (0.5, 0.9, 0.99, 1.01, 1.1, 2))
    assert 0.5 < temperature < 20


def test_nothing_known_and_nothing_wrong():
    """A fallback where leaves say nothing of their samples, a bound where all are right."""
    labels = np.arange(40) % 2
    shares = np.eye(2)[labels]
    assert find_temperature(np.full((40, 1), np.nan), shares, None) == 2.0
    sure = find_temperature(labels[:, np.newaxis].astype(float), shares, None)
    assert np.log(40) / 2 < sure < np.log(40) * 2
    useless = find_temperature(np.random.default_rng(0).standard_normal((40, 1)), shares, None)
    assert 0 < useless < 1


def test_constant_leaves_answer_with_the_shares_of_their_classes():
    X, y = load_breast_cancer(return_X_y=True)
    model = FCODTClassifier(leaf_model="constant", max_depth=2).fit(X, y)
    leaves, probabilities = model.apply(X), model.predict_proba(X)
    assert model.temperature_ is None
    for leaf in np.unique(leaves):
        share = np.bincount(y[leaves == leaf], minlength=2) / np.sum(leaves == leaf)
        np.testing.assert_allclose(probabilities[leaves == leaf], np.broadcast_to(share, (np.sum(leaves == leaf), 2)),
                                   atol=1e-12)


@pytest.mark.parametrize("model", [FCODTClassifier(), FCODTClassifier(max_depth=None),
                                   CurvatureTreeClassifier()], ids=str)
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_probabilities_are_not_0_and_keep_the_labels(model, load):
    X, y = load(return_X_y=True)
    model = clone(model).fit(X, y)
    probabilities = model.predict_proba(X)
    assert 0 < probabilities.min()
    if isinstance(model, FCODTClassifier):  # a temperature for all, which the worst samples hold back
        assert probabilities.max() < 1
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_breast_cancer_is_not_sure_of_what_is_wrong():
    """Its log-loss was 1.5 with probabilities of 0 and 1; knowing the two shares alone has .66."""
    X, y = load_breast_cancer(return_X_y=True)
    for model in (FCODTClassifier(), CurvatureTreeClassifier()):
        held_out = cross_val_predict(model, X, y, method="predict_proba", cv=5)
        assert log_loss(y, held_out) < 0.3


def test_a_temperature_for_probabilities():
    """Each sample once for every class, weighted by its share, says the same."""
    rng = np.random.default_rng(1)
    scores, shares = rng.standard_normal((50, 3)), rng.dirichlet([1.0, 1.0, 1.0], 50)
    assert shares.max(axis=1).mean() < 0.8
    each = np.eye(3)[np.tile([0, 1, 2], 50)]
    expected = find_temperature(np.repeat(scores, 3, axis=0), each, 3.0 * shares.ravel())
    # Equal up to the additional sample, which is one of 51 here and one of 151 there.
    np.testing.assert_allclose(find_temperature(scores, shares, None), expected, rtol=0.2)
