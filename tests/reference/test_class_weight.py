"""Weights of classes are weights of samples."""

import numpy as np
import pytest
from boosters import CLASSIFIERS, SMALL, table
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureForestClassifier,
    SoftTreeClassifier,
    SymmetricBoostingClassifier,
)
from fctree._training.class_weights import class_weights
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

MODELS = [
    SymmetricBoostingClassifier(**SMALL, subsample=0.8),
    CurvatureBoostingClassifier(**SMALL),
    CurvatureForestClassifier(n_estimators=5, random_state=0),
    SoftTreeClassifier(max_epochs=5, random_state=0),
]
WEIGHTS = {"a": 0.25, "c": 3.0}


@pytest.fixture(params=MODELS, ids=lambda model: type(model).__name__)
def model(request):
    return clone(request.param)


@pytest.mark.parametrize("class_weight", [WEIGHTS, "balanced", {}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_same_as_weights_of_samples(model, class_weight, n_classes):
    X, y = table(CLASSIFIERS[0], n_classes=3)
    if n_classes == 2:
        X, y = X[y != "b"], y[y != "b"]
    own = np.random.default_rng(0).integers(2, 9, len(y)) / 4.0
    own[:10] = 0.0
    of_class = np.ones(len(y))
    if class_weight == "balanced":
        for label in np.unique(y):
            of_class[y == label] = own.sum() / (n_classes * own[y == label].sum())
    else:
        of_class = np.array([class_weight.get(label, 1.0) for label in y])
    expected = model.fit(X, y, sample_weight=of_class * own).predict_proba(X)
    model.set_params(class_weight=class_weight)
    assert model.fit(X, y, sample_weight=own).predict_proba(X).tobytes() == expected.tobytes()
    alone = model.fit(X, y).predict_proba(X)
    of_class = compute_sample_weight(class_weight or None, y)
    model.set_params(class_weight=None)
    np.testing.assert_array_equal(alone, model.fit(X, y, sample_weight=of_class).predict_proba(X))


def test_heavier_classes_are_predicted_more(model):
    X, y = table(CLASSIFIERS[0], n=300)
    X = np.column_stack([np.round(X[:, 0]), X[:, 1] * 0.01])
    shares = [np.mean(model.set_params(class_weight={"a": 1.0, "b": w}).fit(X, y).predict(X) == "b")
              for w in (0.05, 1.0, 20.0)]
    assert shares[0] < shares[1] < shares[2]


def test_balanced_weights_of_the_classes_that_are_there():
    found = class_weights("balanced", np.array(["a", "b", "c"]), np.array([0, 0, 0, 2]), None)
    np.testing.assert_allclose(found, [2 / 3, 1.0, 2.0])


def test_a_class_of_weight_zero_keeps_its_name(model):
    X, y = table(CLASSIFIERS[0], n_classes=3)
    model.set_params(class_weight={"a": 0.0}).fit(X, y)
    np.testing.assert_array_equal(model.classes_, ["a", "b", "c"])
    assert "a" not in model.predict(X) and model.predict_proba(X).shape == (len(X), 3)


def test_labels_that_are_numbers(model):
    X, y = table(CLASSIFIERS[0])
    expected = model.set_params(class_weight={"a": 2, "b": 1}).fit(X, y).predict_proba(X)
    for labels, weights in ((np.array([7, 9]), {7: 2}), (np.array([7.0, 9.0]), {7: 2}),
                            (np.array([False, True]), {False: 2}),
                            (np.array([7, 9]), {np.int64(7): 2})):
        model.set_params(class_weight=weights)
        found = model.fit(X, labels[(y == "b").astype(int)]).predict_proba(X)
        np.testing.assert_array_equal(found, expected)


def test_bad_class_weights_are_refused(model):
    X, y = table(CLASSIFIERS[0])
    for bad, words in (({"z": 1, "a": 2}, r"labels \['z'\], which y lacks, and none for \['b'\]"), ({"a": -1}, "at least 0, got -1"),
                       ({"a": np.nan}, "at least 0"), ({"a": "1"}, "finite numbers"),
                       ({"a": None}, "finite numbers"), ({"a": 0, "b": 0}, "leaves no sample"),
                       ("even", "class_weight"), ([1, 2], "class_weight"), (3, "class_weight")):
        with pytest.raises(ValueError, match=words):
            model.set_params(class_weight=bad).fit(X, y)
        assert not hasattr(model, "classes_")


def test_labels_that_y_lacks_are_ignored_where_each_class_has_a_weight(model):
    X, y = table(CLASSIFIERS[0])
    weights = {"a": 2.0, "b": 1.0}
    expected = model.set_params(class_weight=weights).fit(X, y).predict_proba(X)
    found = model.set_params(class_weight={**weights, "z": 5.0}).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_evaluation_sets_are_weighted_but_not_metrics(kind):
    X, y = table(kind)
    Z, z = table(kind, 60, 1)
    of_class = {"a": 2.0, "b": 0.5}
    weighted = kind(**SMALL, class_weight=of_class).fit(
        X, y, eval_set=(Z, z), eval_metric="neg_log_loss")
    by_sample = kind(**SMALL).fit(
        X, y, sample_weight=[of_class[label] for label in y],
        eval_set=[(Z, z, [of_class[label] for label in z]), (Z, z)], eval_metric="neg_log_loss")
    np.testing.assert_array_equal(weighted.validation_score_, by_sample.validation_score_)
    np.testing.assert_array_equal(weighted.evals_result_["valid_0"]["neg_log_loss"],
                                  by_sample.evals_result_["valid_1"]["neg_log_loss"])
    held = kind(**SMALL, class_weight="balanced", early_stopping=True).fit(X, y)
    assert np.isfinite(held.validation_score_).all()


def test_parts_of_the_data_cannot_be_balanced():
    X, y = table(CLASSIFIERS[0])
    soft = SoftTreeClassifier(class_weight="balanced")
    with pytest.raises(ValueError, match="balanced.* needs all samples"):
        soft.partial_fit(X, y)
    expected = SoftTreeClassifier(random_state=0).partial_fit(X, y, sample_weight=1.0 + (y == "b"))
    found = SoftTreeClassifier(random_state=0, class_weight={"b": 2}).partial_fit(X, y)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
