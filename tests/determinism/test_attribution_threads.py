"""Attributions are the same bytes for any number of threads and any rows around a sample."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)
from fctree.inspection import shap_values

RNG = np.random.default_rng(0)
X = RNG.standard_normal((900, 5))
Y = np.abs(X[:, 0] + X[:, 1]) + np.floor(X[:, 2])
MODELS = {
    "symmetric": SymmetricBoostingRegressor(max_iter=20, random_state=0).fit(X, Y),
    "classes": SymmetricBoostingClassifier(max_iter=5, random_state=0).fit(X, np.floor(X[:, 2])),
    "oblique": CurvatureBoostingRegressor(max_iter=5, random_state=0).fit(X, Y),
}
CASES = [("symmetric", "interventional"), ("symmetric", "path_dependent"),
         ("classes", "interventional"), ("oblique", "interventional"), ("oblique", "aumann_shapley")]


@pytest.mark.parametrize("name, method", CASES)
def test_threads_do_not_matter(name, method):
    rows = X[:40] if name == "oblique" else X
    found = [
        shap_values(MODELS[name], rows, X[-30:], method=method, n_jobs=n_jobs) for n_jobs in (1, 2, 4)
    ]
    for other in found[1:]:
        assert found[0].values.tobytes() == other.values.tobytes()
        assert np.array_equal(found[0].base_values, other.base_values)
    alone = shap_values(MODELS[name], rows[5:6], X[-30:], method=method).values
    assert alone.tobytes() == found[0].values[5:6].tobytes()


def test_a_progress_bar_changes_nothing(capsys):
    found = [shap_values(MODELS["oblique"], X[:40], X[-30:], verbose=verbose).values for verbose in (0, 1)]
    assert found[0].tobytes() == found[1].tobytes()
    told = capsys.readouterr().err
    assert "interventional: 100%" in told or "aumann_shapley: 100%" in told
    assert "40/40" in told


def test_large_tables_are_taken_in_parts():
    """More rows than are looked up together give each row what it gets alone."""
    wide = np.tile(X, (10, 1))
    found = shap_values(MODELS["symmetric"], wide, X, n_jobs=2).values
    expected = shap_values(MODELS["symmetric"], X, X).values
    assert np.tile(expected, (10, 1)).tobytes() == found.tobytes()
