"""Boosters with categories under early stopping: one fit for each set of features, as if it grew round by round."""

import copy

import numpy as np
import pandas as pd
import pytest
from fctree import CurvatureBoostingRegressor, SymmetricBoostingClassifier, SymmetricBoostingRegressor
from fctree._training.boosted import BaseBoosting
from fctree.inspection import adapters, variable_importance

BOOSTERS = [
    SymmetricBoostingRegressor(max_iter=30, subsample=0.7, random_state=0),
    SymmetricBoostingRegressor(max_iter=8, posterior_samples=2, random_state=0),
    SymmetricBoostingRegressor(max_iter=8, loss="absolute_error", random_state=0),
    SymmetricBoostingClassifier(max_iter=30, learning_rate=0.5, class_weight="balanced", random_state=0),
    CurvatureBoostingRegressor(max_iter=12, random_state=0),
]


def table(n=240):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({
        "place": rng.choice([f"p{k}" for k in range(30)], n),
        "kind": rng.choice(["a", "b", None], n),
        "size": rng.normal(size=n),
    })
    y = X["size"] * (X["kind"] == "a") + X["place"].str[1:].astype(float) / 10 + rng.normal(size=n)
    return X, y.to_numpy()


def importance(model, method="early_stopping"):
    X, y = table()
    if hasattr(model, "predict_proba"):
        y = y > np.median(y)
    weight = np.arange(len(X)) % 3
    return variable_importance(model, X, y, sample_weight=weight, method=method, random_state=0)


@pytest.mark.parametrize("model", BOOSTERS, ids=repr)
@pytest.mark.parametrize("method", ["early_stopping", "retrain"])
def test_the_models_are_those_of_single_rounds(model, method, monkeypatch):
    in_one_fit = importance(model, method)
    monkeypatch.setattr(adapters, "BoostedRounds", adapters.GrowingEnsemble)
    round_by_round = importance(model, method)
    assert in_one_fit.importances.tobytes() == round_by_round.importances.tobytes()
    np.testing.assert_array_equal(in_one_fit.n_iter, round_by_round.n_iter)
    assert in_one_fit.full_score == round_by_round.full_score
    assert in_one_fit.warnings == round_by_round.warnings


def test_each_set_of_features_takes_one_fit(monkeypatch):
    n_fits = 0
    fit = BaseBoosting.fit

    def counted(*args, **options):
        nonlocal n_fits
        n_fits += 1
        return fit(*args, **options)

    monkeypatch.setattr(BaseBoosting, "fit", counted)
    result = importance(copy.copy(BOOSTERS[0]))
    assert n_fits == 1 + 1 + 3  # the full model, its further rounds, and one of each column
    assert result.n_iter.sum() > n_fits
