"""Probabilities of the classifier: a point of the simplex, consistent with everything else."""

import numpy as np
from scipy.special import softmax
from fctree import FCODTClassifier
from fctree._native import probabilities
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays
from hypothesis.strategies import floats
from property.strategies import class_tables, tree_parameters


def fitted(table, parameters):
    model = FCODTClassifier(**parameters)
    return model.fit(table.X, table.y, sample_weight=table.sample_weight)


def points(table):
    new = np.random.default_rng(5).normal(scale=3, size=(15, table.X.shape[1]))
    return np.concatenate([table.X, new])


@given(class_tables(), tree_parameters())
def test_probabilities_are_probabilities(table, parameters):
    model = fitted(table, parameters)
    probabilities = model.predict_proba(points(table))
    assert probabilities.shape == (len(points(table)), len(model.classes_))
    assert np.all((probabilities >= 0) & (probabilities <= 1))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-12)


@given(class_tables(), tree_parameters())
def test_the_most_probable_class_is_predicted(table, parameters):
    model, X = fitted(table, parameters), points(table)
    probabilities = model.predict_proba(X)
    predicted = np.searchsorted(model.classes_, model.predict(X))
    chosen = probabilities[np.arange(len(X)), predicted]  # scores of another sign may round to equal ones
    np.testing.assert_array_equal(chosen, probabilities.max(axis=1))


@given(class_tables(), tree_parameters())
def test_the_decision_agrees_with_the_prediction(table, parameters):
    model, X = fitted(table, parameters), points(table)
    n_classes = len(model.classes_)
    decision = model.decision_function(X)
    predicted = np.searchsorted(model.classes_, model.predict(X))
    if n_classes <= 2:
        assert decision.shape == (len(X),)
        if n_classes == 2:
            np.testing.assert_array_equal(predicted, (decision > 0).astype(int))
    else:
        assert decision.shape == (len(X), n_classes)
        np.testing.assert_array_equal(predicted, decision.argmax(axis=1))


@given(class_tables(), tree_parameters(leaf_model="ridge"))
def test_probabilities_are_the_softmax_of_ridge_scores(table, parameters):
    model, X = fitted(table, parameters), points(table)
    if len(model.classes_) < 2:
        return
    raw = model.tree_.predict(X)
    if len(model.classes_) == 2:
        raw = np.column_stack([1 - raw[:, 0], raw[:, 0]])
    if model.temperature_ is None:
        return
    # The rounding of scores, which the temperature multiplies.
    size = np.maximum(1, model.temperature_ * np.abs(raw).max(axis=1, keepdims=True))
    error = np.abs(model.predict_proba(X) - softmax(model.temperature_ * raw, axis=1))
    assert np.all(error <= 1e-14 * len(model.classes_) * size)


@given(class_tables(), tree_parameters(leaf_model="constant"))
def test_constant_leaves_give_their_class_fractions(table, parameters):
    model, X = fitted(table, parameters), points(table)
    expected = model.tree_.value[model.apply(X), 0, :]
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-14)


@given(class_tables(), tree_parameters())
def test_labels_are_names_only(table, parameters):
    """Renaming the classes in the same order changes nothing but the names."""
    model, X = fitted(table, parameters), points(table)
    codes = np.searchsorted(model.classes_, table.y)
    renamed = FCODTClassifier(**parameters).fit(
        table.X, np.array([10, 25, 31, 47])[codes], sample_weight=table.sample_weight)
    np.testing.assert_array_equal(renamed.predict_proba(X), model.predict_proba(X))


@given(class_tables(), tree_parameters())
def test_only_known_classes_are_predicted(table, parameters):
    model = fitted(table, parameters)
    assert set(model.predict(points(table))) <= set(table.y)
    np.testing.assert_array_equal(model.classes_, np.unique(table.y))


def test_probabilities_do_not_exceed_one_by_a_rounding():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((12, 6)), np.concatenate([np.arange(4), rng.integers(0, 4, 8)])
        model = FCODTClassifier(alpha=0.01, max_depth=0, fit_intercept=False).fit(X, y)
        assert model.predict_proba(rng.normal(scale=3, size=(30, 6))).max() <= 1


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=floats(-800, 800)))
def test_compiled_softmax_is_that_of_scipy(scores):
    for given_scores in (scores, np.asfortranarray(scores), scores[::-1]):
        found = probabilities.softmax(given_scores)
        np.testing.assert_allclose(found, softmax(given_scores, axis=1), rtol=1e-12, atol=1e-300)
    second = found[:, -1]
    np.testing.assert_array_equal(probabilities.of_two(second), np.column_stack([1.0 - second, second]))


def test_a_score_that_is_not_known_leaves_no_probability():
    found = probabilities.softmax(np.array([[0.0, np.nan], [1.0, 1.0]]))
    assert np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1], [0.5, 0.5])
