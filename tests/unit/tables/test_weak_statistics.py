"""Indicators of few categories, in place of statistics that say nothing and beside others."""

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    SymmetricBoostingRegressor,
    load_model,
    save_model,
)
from sklearn.metrics import mean_pinball_loss


def table(n_levels=10, n=3000, seed=51):
    """Categories c0, c1, .. of equal frequency as numbers and in a table, and two columns of numbers."""
    rng = np.random.default_rng(seed)
    code, numbers = np.arange(n) % n_levels, rng.normal(size=(n, 2))
    X = pd.DataFrame({"c": [f"c{v:02}" for v in code], "x": numbers[:, 0], "w": numbers[:, 1]})
    return code, X, numbers, rng


def with_an_interaction(**given):
    """Levels of the same mean, whose parity decides the sign of a product of two numbers' signs."""
    code, X, numbers, rng = table(**given)
    signs = np.sign(numbers).prod(axis=1)
    return X, np.where(code % 2, 2.0, -2.0) * signs + 0.2 * rng.normal(size=len(X))


def with_spreads(seed=52, **given):
    """Categories that change only the spread of the target."""
    code, X, _, rng = table(seed=seed, **given)
    return X, np.where(code < 5, 2.0, 0.1) * rng.normal(size=len(X))


@pytest.mark.parametrize(
    "model",
    [
        SymmetricBoostingRegressor(random_state=0),
        CurvatureBoostingRegressor(random_state=0),
        CurvatureForestRegressor(n_estimators=20, random_state=0),
    ],
)
def test_categories_that_matter_through_interactions_are_seen(model, tmp_path):
    X, y = with_an_interaction()
    model.fit(X[:2000], y[:2000])
    assert model.score(X[2000:], y[2000:]) > 0.75
    names = model.encoder_.feature_names(list(X))
    assert names[:10] == [f"c = c{v:02}" for v in range(10)] and not model.encoder_.has_statistics(0)
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.parametrize("kind", [SymmetricBoostingRegressor, CurvatureBoostingRegressor])
@pytest.mark.parametrize("order", [0.1, 0.9])
def test_quantiles_see_categories_that_change_the_spread(kind, order):
    X, y = with_spreads()
    model = kind(loss="quantile", quantile=order, random_state=0).fit(X[:2000], y[:2000])
    found = mean_pinball_loss(y[2000:], model.predict(X[2000:]), alpha=order)
    constant = np.full(1000, np.quantile(y[:2000], order))
    assert found < 0.8 * mean_pinball_loss(y[2000:], constant, alpha=order)


def test_other_columns_and_single_trees_keep_their_statistics():
    X, y = with_an_interaction()
    assert CurvatureTreeRegressor(max_depth=0).fit(X, y).encoder_.has_statistics(0)
    y = y + 0.05 * X["c"].str[1:].astype(int).to_numpy() ** 1.5
    assert SymmetricBoostingRegressor(max_iter=1).fit(X, y).encoder_.has_statistics(0)
    X, y = with_an_interaction(n_levels=13)
    assert SymmetricBoostingRegressor(max_iter=1).fit(X, y).encoder_.has_statistics(0)


def test_a_pair_keeps_its_statistic_beside_indicators():
    code, X, numbers, rng = table(n=2000)
    y = np.where(code % 2, 2.0, -2.0) * numbers[:, 0] + 0.1 * rng.normal(size=len(X))
    encoder = SymmetricBoostingRegressor(max_iter=1).fit(X, y).encoder_
    assert not encoder.has_statistics(0) and encoder.pairs.tolist() == [[0, 1]]
    assert "c x x (target mean)" in encoder.feature_names(list(X))


@pytest.mark.parametrize("make", [with_an_interaction, with_spreads])
def test_a_warm_start_keeps_indicators(make):
    X, y = make(n=600)
    model = SymmetricBoostingRegressor(max_iter=2, warm_start=True, random_state=0).fit(X, y)
    names = model.encoder_.feature_names(list(X))
    model.set_params(max_iter=4).fit(X, y)
    assert model.encoder_.feature_names(list(X)) == names
    at_once = SymmetricBoostingRegressor(max_iter=4, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), at_once.predict(X))


def test_categories_that_interact_are_seen_beside_their_statistics(tmp_path):
    rng = np.random.default_rng(0)
    codes, effects = rng.integers(6, size=(2000, 3)), rng.normal(size=(6, 6, 6))
    X, y = pd.DataFrame(codes.astype(str)), effects[tuple(codes.T)] + 0.3 * rng.normal(size=2000)
    model = CurvatureBoostingRegressor(random_state=0, n_jobs=1).fit(X[:1000], y[:1000])
    assert model.encoder_.indicated[0] and model.encoder_.has_statistics(0)
    assert model.score(X[1000:], y[1000:]) > 0.72  # .65 by the statistics alone
    assert len(model.feature_importances_) == 3
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))
    assert SymmetricBoostingRegressor(max_iter=1).fit(X, y).encoder_.indicated is None
