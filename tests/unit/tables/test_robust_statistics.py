"""Statistics of targets that are cut off, for robust losses."""

import pickle

import numpy as np
import pandas as pd
import pytest
from fctree import CurvatureBoostingRegressor, SymmetricBoostingRegressor, load_model, save_model
from fctree._tables.robust import cut_off, target_limits
from fctree.persistence.table_checks import rebuild_table_encoder

ROBUST = [{"loss": "absolute_error"}, {"loss": "huber"}, {"loss": "quantile", "quantile": 0.5}]


def with_wild_targets(n=3000, seed=53):
    """Ten categories beside a number, and one target of a hundred a thousand times as large."""
    rng = np.random.default_rng(seed)
    code, x = np.arange(n) % 10, rng.normal(size=n)
    truth = 2.0 * rng.normal(size=10)[code] + x
    y = truth + 0.3 * rng.normal(size=n)
    y[rng.random(n) < 0.01] *= 1000.0
    return pd.DataFrame({"c": [f"c{v}" for v in code], "x": x}), y, truth


@pytest.mark.parametrize("kind", [SymmetricBoostingRegressor, CurvatureBoostingRegressor])
@pytest.mark.parametrize("loss", ROBUST)
def test_wild_targets_do_not_ruin_categories(kind, loss, tmp_path):
    X, y, truth = with_wild_targets()
    model = kind(random_state=0, **loss).fit(X[:2000], y[:2000])
    assert np.mean(np.abs(model.predict(X[2000:]) - truth[2000:])) < 0.13
    names = [f"c ({name})" for name in ("target mean", "mean effect")]
    assert model.encoder_.feature_names(list(X))[:2] == names
    save_model(model, tmp_path / "model")
    for copy in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        np.testing.assert_array_equal(copy.encoder_.limits, model.encoder_.limits)


def test_outputs_have_limits_each_and_a_warm_start_keeps_them():
    X, y, _ = with_wild_targets(600)
    model = SymmetricBoostingRegressor(loss="absolute_error", max_iter=2, warm_start=True)
    limits = model.fit(X, np.column_stack([y, 10.0 * y[::-1]])).encoder_.limits.copy()
    np.testing.assert_allclose(limits[1], 10.0 * limits[0])
    model.set_params(max_iter=3).fit(X, np.column_stack([y + 5.0, y]))
    np.testing.assert_array_equal(model.encoder_.limits, limits)


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_other_losses_have_statistics_of_all_targets(loss):
    X, y, _ = with_wild_targets(300)
    model = SymmetricBoostingRegressor(loss=loss, max_iter=2).fit(X, np.abs(y))
    assert model.encoder_.limits is None
    np.testing.assert_allclose(model.encoder_.priors, [np.abs(y).mean() / np.abs(y).std()])


@pytest.mark.parametrize("weight", [None, np.full(101, 2.0)])
def test_limits_are_three_interquartile_ranges_from_the_quartiles(weight):
    np.testing.assert_array_equal(target_limits(np.arange(101.0)[np.newaxis], weight), [[-125, 225]])


def test_where_most_targets_are_the_same_the_others_are_not_cut_off():
    y = np.r_[np.zeros(90), np.arange(1.0, 11.0)][np.newaxis]
    np.testing.assert_array_equal(cut_off(y, target_limits(y, None)), y)
    constant = np.full((1, 5), 3.0)
    np.testing.assert_array_equal(cut_off(constant, target_limits(constant, None)), constant)


@pytest.mark.parametrize("limits", [np.zeros(2), np.zeros((1, 3)), np.zeros((1, 2), dtype=int), [0.0]])
def test_forged_limits_are_refused(limits):
    X, y, _ = with_wild_targets(300)
    encoder = SymmetricBoostingRegressor(loss="absolute_error", max_iter=1).fit(X, y).encoder_
    with pytest.raises(ValueError, match="limits"):
        rebuild_table_encoder(dict(vars(encoder)) | {"limits": limits})


def test_limits_of_other_outputs_are_refused(tmp_path):
    X, y, _ = with_wild_targets(300)
    model = SymmetricBoostingRegressor(loss="absolute_error", max_iter=1).fit(X, y)
    model.encoder_.limits = np.zeros((2, 2))
    with pytest.raises(ValueError, match="limits of other outputs"):
        save_model(model, tmp_path / "model.fct")
