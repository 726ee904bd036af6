"""Importances of scikit-learn's linear models, whose iterations are those of one fit."""

import numpy as np
import pytest
from fctree.inspection import variable_importance
from fctree.inspection.study import Study
from sklearn.base import clone
from sklearn.linear_model import HuberRegressor, Lasso, LogisticRegression, PoissonRegressor


@pytest.mark.parametrize("model", [
    LogisticRegression(),
    LogisticRegression(solver="newton-cholesky"),
    LogisticRegression(solver="liblinear"),
    PoissonRegressor(),
    HuberRegressor(),
    Lasso(alpha=0.01),
], ids=str)
def test_linear_models_are_trained_to_the_end(model):
    """Of features far from 0, of which a few iterations learn nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3)) + 10.0
    score = (X - 10.0) @ [1.0, 0.5, 0.0]
    y = rng.poisson(np.exp(0.3 * score)).astype(float)
    y = score + rng.logistic(size=2000) > 0 if isinstance(model, LogisticRegression) else y
    found = {
        method: variable_importance(model, X, y, method=method, random_state=0)
        for method in ("early_stopping", "dropout", "retrain")
    }
    options = {"method": "dropout", "scoring": "neg_mean_squared_error", "fractions": (0.25, 0.25), "min_iter": 10}
    parts = Study(model, (X, y, None), where=(None, None), random_state=0, **options).parts
    fitted = clone(model).fit(parts.train.X, parts.train.y)
    classes = isinstance(model, LogisticRegression)
    predicted = fitted.predict_proba(parts.test.X)[:, 1] if classes else fitted.predict(parts.test.X)
    for result in found.values():
        np.testing.assert_allclose(result.full_score, -np.mean((parts.test.y - predicted) ** 2), rtol=1e-3)
    stopped, retrained = (found[method].importances for method in ("early_stopping", "retrain"))
    np.testing.assert_allclose(stopped, retrained, rtol=0.02, atol=2e-3)
    assert retrained[0] > 0.03 and np.argmax(retrained) == 0
