"""Probabilities of samples so far away that scores overflow."""

import warnings

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureForestClassifier,
    CurvatureTreeClassifier,
    FCODTClassifier,
)
from fctree._training.targets import finite_scores
from sklearn.base import clone

X = np.random.default_rng(0).normal(size=(300, 3))
CLASSES = (X[:, 0] > 0.0).astype(int) + (X[:, 1] > 0.5)
FAR = 1e308 * np.array([[1, 1, 1], [-1, 1, 1], [1, -1, 0], [1, -1, 1], [-1, -1, -1], [1, 1, -1], [0, 1, -1]])
MODELS = (
    CurvatureTreeClassifier(),
    CurvatureTreeClassifier(alpha=1e-3),
    CurvatureTreeClassifier(leaf_model="soft"),
    FCODTClassifier(),
    CurvatureForestClassifier(n_estimators=5, extrapolation=None, random_state=0),
    CurvatureBoostingClassifier(max_iter=5, learning_rate=1.0, extrapolation=None, random_state=0),
)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_far_samples_have_probabilities_too(model, n_classes):
    for size in (1.0, 1e-3):  # features of a size that makes coefficients, and overflows, larger
        fitted = clone(model).fit(size * X, np.minimum(CLASSES, n_classes - 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            p, labels = fitted.predict_proba(FAR), fitted.predict(FAR)
        assert np.all(p >= 0.0)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(p[np.arange(len(FAR)), labels], p.max(axis=1))


def test_scores_that_overflow_keep_their_order():
    inf, nan = np.inf, np.nan
    scores = np.array([[1.0, 2.0, 3.0], [inf, -1e308, -inf], [1e308, 1.5e308, 0.0], [nan, -1.0, -inf]])
    found = finite_scores(scores, even=0.5)
    np.testing.assert_array_equal(found[0], scores[0])
    assert np.isfinite(found).all()
    assert np.all(np.diff(found[1]) < -1e290)
    assert found[2, 2] == 0.0 < found[2, 0] < found[2, 1]
    assert found[3, 0] == 0.5 > found[3, 1] > found[3, 2]
    assert np.isnan(scores[3, 0])
