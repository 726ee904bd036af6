"""Ensembles of oblique trees are the same bytes for any number of threads."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
)
from sklearn.base import clone

RNG = np.random.default_rng(0)
X = RNG.standard_normal((9000, 7))
y = np.abs(X[:, 0] + X[:, 1]) + np.floor(X[:, 2]) + 0.3 * RNG.standard_normal(9000)
LABELS = np.searchsorted(np.quantile(y, [0.3, 0.7]), y)
WEIGHT = RNG.uniform(0.2, 3, 9000)

CASES = {
    "boosting": (CurvatureBoostingRegressor(max_iter=4), y),
    "colsample": (CurvatureBoostingRegressor(max_iter=4, colsample=0.5, early_stopping=True), y),
    "huber": (CurvatureBoostingRegressor(max_iter=3, loss="huber", subsample=1.0), y),
    "poisson": (CurvatureBoostingRegressor(max_iter=3, loss="poisson"), np.abs(y)),
    "classes": (CurvatureBoostingClassifier(max_iter=3), LABELS),
    "forest": (CurvatureForestRegressor(n_estimators=4, max_depth=3, max_features=3), y),
    "forest of classes": (
        CurvatureForestClassifier(n_estimators=4, max_depth=2, oob_score=True), LABELS),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
def test_threads_do_not_matter(case, weight):
    model, targets = CASES[case]
    models = [clone(model).set_params(n_jobs=n_jobs, random_state=5).fit(X, targets, weight)
              for n_jobs in (1, 2, 4)]
    for other in models[1:]:
        for name, array in vars(models[0].trees_).items():
            assert array.tobytes() == getattr(other.trees_, name).tobytes(), name
        assert models[0].predict(X).tobytes() == other.predict(X).tobytes()
        assert models[0].apply(X[:99]).tobytes() == other.apply(X[:99]).tobytes()
    if model.get_params().get("oob_score"):
        assert len({m.oob_score_ for m in models}) == 1
