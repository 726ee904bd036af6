"""scikit-learn's partial dependence takes every estimator."""

import numpy as np
import pytest
from sklearn.inspection import PartialDependenceDisplay

import fctree

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 4))
Y = X[:, 0] * X[:, 1] + X[:, 2]
SMALL = {"max_iter": 3, "n_estimators": 3, "max_epochs": 2, "random_state": 0}
NAMES = sorted(name for name in fctree.__all__ if name.endswith(("Regressor", "Classifier")))


@pytest.mark.parametrize("name", NAMES)
def test_displays_show_means_of_predictions(name):
    model = getattr(fctree, name)()
    model.set_params(**{key: value for key, value in SMALL.items() if key in model.get_params()})
    classes = name.endswith("Classifier")
    model.fit(X, (Y > 0).astype(int) if classes else Y)
    display = PartialDependenceDisplay.from_estimator(
        model, X, [0, (1, 2)], grid_resolution=4
    )
    found = display.pd_results[0]
    rows = X.copy()
    rows[:, 0] = found["grid_values"][0][1]
    if hasattr(model, "predict_proba"):
        expected = model.predict_proba(rows)[:, 1]
    else:
        expected = model.decision_function(rows) if classes else model.predict(rows)
    assert found["average"][0, 1] == pytest.approx(expected.mean(), rel=1e-9, abs=1e-12)
