"""Target statistics are in deviations of the target, so that features do not go by its unit."""

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    FCODTRegressor,
    SymmetricBoostingRegressor,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)
from fctree._tables.encoder import TableEncoder
from fctree.persistence.table_checks import rebuild_table_encoder

MODELS = [
    TreeNTKRegressor(alpha=1.0),
    TreeNTKRegressorCV(alphas=(0.1, 1.0), depths=(1, 2), scales=(1.0,)),
    # The scores that its nodes pass on are in the unit of y.
    FCODTRegressor(max_depth=3, min_samples_leaf=10, feature_concatenation=False),
    CurvatureTreeRegressor(max_depth=3, standardize=False),
    CurvatureForestRegressor(n_estimators=5, random_state=0),
    CurvatureBoostingRegressor(max_iter=10, subsample=0.5, random_state=0),
]


def with_levels(n_levels=30, n=400, seed=3):
    """A table of text and numbers, and a target of an effect of each level."""
    rng = np.random.default_rng(seed)
    code, x = rng.integers(0, n_levels, n), rng.normal(size=n)
    y = 5.0 + rng.normal(size=n_levels)[code] + 0.3 * x + 0.3 * rng.normal(size=n)
    return pd.DataFrame({"c": [f"level {v:02}" for v in code], "x": x}), y


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("factor", [2.0, 1024.0, 2.0**-12])
@pytest.mark.parametrize("n_levels", [20, 30])
def test_predictions_go_with_the_unit_of_the_target(model, factor, n_levels):
    X, y = with_levels(n_levels)
    expected = factor * model.fit(X, y).predict(X)
    np.testing.assert_allclose(model.fit(X, factor * y).predict(X), expected, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS[:4], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("factor", [1e-3, 5e4])
def test_categories_are_as_good_in_any_unit(model, factor):
    X, y = with_levels(n=1000)
    expected = model.fit(X[:500], y[:500]).score(X[500:], y[500:])
    assert expected > 0.6
    found = model.fit(X[:500], factor * y[:500]).score(X[500:], factor * y[500:])
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("model", MODELS[4:], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("factor", [1e-3, 0.1, 1e3])
def test_draws_do_not_go_by_the_last_digits_of_statistics(model, factor):
    """Units other than powers of two round them."""
    X, y = with_levels()
    expected = model.fit(X, y).predict(X)
    np.testing.assert_allclose(model.fit(X, factor * y).predict(X) / factor, expected, rtol=0, atol=1e-6)


def encoded(X, targets, weight=None):
    """Features of a table of two columns of categories and one of numbers, and the encoder."""
    codes = X["c"].astype("category").cat.codes.to_numpy(float)
    halves = np.floor(codes / 2.0)
    table = np.column_stack([codes, (halves + np.arange(len(codes))) % 9, X["x"]])
    names = [[f"{v:02}" for v in range(30)], [f"{v:02}" for v in range(9)], None]
    encoder = TableEncoder(names, False)
    return encoder.fit_transform(table, np.ascontiguousarray(targets), None, weight)[0], encoder


@pytest.mark.parametrize("factors", [(2.0**300, 2.0**-9), (2.0**-300, 8.0), (2.0, 1.0)])
def test_features_are_the_same_bytes_of_targets_times_powers_of_two(factors):
    X, y = with_levels()
    weight = np.random.default_rng(0).exponential(size=len(y))
    two = np.stack([y, np.where(X["x"] > 0.0, y, -y)])
    expected, _ = encoded(X, two, weight)
    found, encoder = encoded(X, two * np.array(factors)[:, np.newaxis], weight)
    np.testing.assert_array_equal(found, expected)
    means = np.average(two, axis=1, weights=weight)
    deviations = np.sqrt(np.average((two - means[:, np.newaxis]) ** 2, axis=1, weights=weight))
    np.testing.assert_allclose(encoder.units, deviations * factors, rtol=1e-10)
    np.testing.assert_allclose(encoder.priors, means / deviations, rtol=1e-10)


def test_pairs_are_in_the_unit_too():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 9, 2000), rng.integers(0, 9, 2000)
    y = rng.normal(size=(9, 9))[a, b] + 0.1 * rng.normal(size=2000)
    found = []
    for factor in (1.0, 256.0):
        encoder = TableEncoder([[str(v) for v in range(9)] for _ in range(2)], False)
        X = np.column_stack([a, b]).astype(float)
        found.append(encoder.fit_transform(X, factor * y[np.newaxis], None, None)[0])
        assert len(encoder.pairs) == 1
    np.testing.assert_array_equal(found[1], found[0])


@pytest.mark.parametrize("value", [0.0, 0.1, -7.0, 1e100])
def test_a_constant_target_has_the_unit_one(value):
    X, y = with_levels()
    found, encoder = encoded(X, np.stack([np.full(len(y), value), y]))
    assert encoder.units[0] == 1.0 and np.isfinite(found).all()
    np.testing.assert_allclose(encoder.priors[0], value, rtol=1e-12)


def test_a_warm_start_keeps_the_unit_and_older_models_that_of_y():
    X, y = with_levels()
    model = SymmetricBoostingRegressor(max_iter=2, warm_start=True, random_state=0).fit(X, y)
    units, statistics = model.encoder_.units.copy(), model.encoder_.statistics[0].copy()
    model.set_params(max_iter=3).fit(X, 3.0 * y)
    np.testing.assert_array_equal(model.encoder_.units, units)
    np.testing.assert_array_equal(model.encoder_.statistics[0], statistics)
    codes = X["c"].astype("category").cat.codes.to_numpy(float)[:, np.newaxis]
    new = TableEncoder([[f"{v:02}" for v in range(30)]], True)
    expected = new.fit_transform(codes, y[np.newaxis], None, None)[0]
    old = {name: value for name, value in vars(new).items() if name != "units"}
    of_y = {"priors": new.priors * new.units, "statistics": [new.statistics[0] * new.units]}
    found = rebuild_table_encoder(old | of_y).refit_transform(codes, y[np.newaxis], None, None)
    np.testing.assert_allclose(found, expected * new.units, rtol=1e-10)


def test_a_warm_start_keeps_the_strengths():
    X, y = with_levels()
    codes = X["c"].astype("category").cat.codes.to_numpy(float)[:, np.newaxis]
    noise = np.random.default_rng(0).permutation(y)[np.newaxis]
    anew, kept = (TableEncoder([[f"{v:02}" for v in range(30)]], True) for _ in range(2))
    assert np.ptp(anew.fit_transform(codes, noise, None, None)[0]) == 0.0 and np.isinf(anew.strengths[0])
    kept.fit_transform(codes, y[np.newaxis], None, None)
    assert np.ptp(kept.refit_transform(codes, noise, None, None)) > 0.1


def test_a_warm_start_keeps_the_strengths_of_pairs():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, (600, 2)).astype(float)
    y = rng.normal(size=(6, 6))[tuple(codes.astype(int).T)]
    encoder = TableEncoder([list("abcdef"), list("abcdef")], True)
    encoder.fit_transform(codes, y[np.newaxis], None, None)
    assert encoder.pairs.tolist() == [[0, 1]]
    of_pair = [kind for _, kind, _ in encoder.layout()].index("pair")
    found = encoder.refit_transform(codes, rng.permutation(y)[np.newaxis], None, None)[:, of_pair]
    assert len(np.unique(found)) > 100  # of 36 cells and 5 folds; where strengths are infinite all are the prior


@pytest.mark.parametrize("units", [np.ones(2), np.zeros(1), np.array([np.nan]), np.array([np.inf]), np.ones(1, dtype=int), [1.0]])
def test_forged_units_are_refused(units):
    X, y = with_levels()
    encoder = SymmetricBoostingRegressor(max_iter=1).fit(X, y).encoder_
    with pytest.raises(ValueError, match="units"):
        rebuild_table_encoder(dict(vars(encoder)) | {"units": units})
