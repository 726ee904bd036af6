"""Treelite predicts from exported symmetric trees what `predict` predicts."""

import numpy as np
import pytest
from export_cases import CATEGORICAL, CLASSES, CLASSIFIERS, REGRESSORS, categories, predictions, regression
from fctree.export import to_treelite
from sklearn.base import clone

treelite = pytest.importorskip("treelite")


def check(model, X, tolerance=1e-12):
    """The default is for sums of leaves in another order."""
    expected = predictions(model, X)
    found = treelite.gtil.predict(to_treelite(model), X)
    assert found.dtype == np.float64
    found = found.reshape(len(X), -1)
    if found.shape[1] == 1 and expected.shape[1] == 2:
        found = np.hstack([1.0 - found, found])
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("name, n_outputs", [
    ("symmetric", 1), ("symmetric", 3), ("symmetric, deep", 1), ("symmetric, log link", 1),
])
def test_regressors(name, n_outputs):
    X, y = regression(n_outputs)
    X = X.copy()
    X[::5, 2] = np.nan
    check(clone(REGRESSORS[name]).fit(X, y), X)


@pytest.mark.parametrize("classes", ["two classes", "three classes"])
def test_classifiers(classes):
    X, y = CLASSES[classes]()
    # Treelite's softmax is in float32.
    check(clone(CLASSIFIERS["symmetric"]).fit(X, y), X, 1e-6 if classes == "three classes" else 1e-12)


def test_other_models_are_refused():
    X, y = regression()
    with pytest.raises(ValueError, match="such as this CurvatureTreeRegressor"):
        to_treelite(clone(REGRESSORS["tree"]).fit(X, y))
    frame, y = categories()
    model = clone(REGRESSORS["symmetric"]).set_params(categorical_features=CATEGORICAL)
    with pytest.raises(ValueError, match="numbers"):
        to_treelite(model.fit(frame, y))
    with pytest.raises(ValueError, match="two classes"):
        to_treelite(clone(CLASSIFIERS["symmetric"]).fit(*CLASSES["one class"]()))
