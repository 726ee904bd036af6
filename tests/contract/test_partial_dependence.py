"""scikit-learn's partial dependence takes every estimator."""

import numpy as np
import pytest
from estimators import classifies, public_estimators, small
from sklearn.inspection import PartialDependenceDisplay

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 4))
Y = X[:, 0] * X[:, 1] + X[:, 2]
ESTIMATORS = public_estimators()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_displays_show_means_of_predictions(name):
    model = small(ESTIMATORS[name])
    classes = classifies(ESTIMATORS[name])
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
