"""Classifiers of many classes: leaves are shrunk by the curvature of their loss."""

import numpy as np
import pytest
from fctree import SymmetricBoostingClassifier
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss


@pytest.mark.parametrize("n_classes, factor", [(2, 1.0), (3, 1.0), (4, 1.0), (8, 0.5), (20, 0.2)])
def test_the_penalty_is_in_units_of_two_classes(n_classes, factor):
    """The first leaves of equally frequent classes that a feature separates: Newton steps with that penalty."""
    y = np.repeat(np.arange(n_classes), 10)
    X = (y == 0)[:, np.newaxis].astype(float)
    model = SymmetricBoostingClassifier(max_iter=1, max_depth=1, learning_rate=1.0, random_strength=0.0)
    score = model.fit(X, y).trees_.leaf_values[0]
    p = 1 / n_classes
    hessian = 10 * p * (1 - p) * (n_classes / (n_classes - 1) if n_classes > 2 else 1)
    assert abs(score[1, 0]) == pytest.approx(10 * (1 - p) / (hessian + 3.0 * factor))


def test_digits_from_few_samples():
    """Log-losses were .32, and .24 since penalties are in that unit."""
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))
    train, test = rows[:500], rows[500:]
    model = SymmetricBoostingClassifier(random_state=0).fit(X[train], y[train])
    assert log_loss(y[test], model.predict_proba(X[test])) < 0.28
