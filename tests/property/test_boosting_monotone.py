"""Monotone constraints hold everywhere, and cost no more than they must."""

import numpy as np
import pytest
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_cases import REGRESSION_LOSSES, loss_parameters
from scipy.optimize import LinearConstraint, minimize



def table(seed, n=150, d=4, missing=False):
    """Targets that go up and down along every feature."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    y = np.exp(np.sin(4 * X).sum(axis=1) / 2 + 0.5 * rng.standard_normal(n))
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, y, rng


def steps_along(predict, X, feature, values):
    """Predictions of rows whose feature runs through values, one row a value."""
    grid = np.repeat(X[:, None], len(values), axis=1)
    grid[:, :, feature] = values
    flat = predict(grid.reshape(-1, X.shape[1]))
    return np.diff(flat.reshape(len(X), len(values)), axis=1)


def assert_honoured(predict, X, directions, thresholds):
    for feature, direction in enumerate(directions):
        cuts = thresholds[feature][np.isfinite(thresholds[feature])]
        values = np.unique(np.concatenate([[-np.inf, -5.0, 5.0, np.inf], cuts,
                                           np.nextafter(cuts, np.inf)]))
        if direction:
            assert np.all(direction * steps_along(predict, X, feature, values) >= 0)


directions = st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=4)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), directions, st.sampled_from(REGRESSION_LOSSES), st.integers(1, 5),
       st.sampled_from([0.0, 3.0]), st.sampled_from(["normal", "gumbel"]), st.booleans())
def test_every_loss_honours_them(seed, directions, loss, depth, l2_leaf_reg, noise, missing):
    X, y, rng = table(seed, missing=missing)
    model = SymmetricBoostingRegressor(
        **loss_parameters(loss), max_iter=8, max_depth=depth, max_bins=8, learning_rate=0.5,
        l2_leaf_reg=l2_leaf_reg, monotonic_cst=directions, score_noise=noise, random_state=0)
    model.fit(X, y, sample_weight=rng.uniform(0.1, 3, len(X)))
    raw = lambda Z: model._raw_predict(Z)[:, 0]
    rows = np.concatenate([X[:20], table(seed + 1, 10, missing=True)[0]])
    # Sums of trees that are monotone each differ by rounding at most where they are equal.
    exact = lambda Z: np.round(raw(Z), 9)
    assert_honoured(exact, rows, directions, model.bin_thresholds_)
    for tree in range(model.n_iter_):
        values = model.trees_.leaf_values[tree, :, 0]
        assert_honoured(lambda Z, t=tree, v=values: v[model.apply(Z)[:, t]], rows[:8],
                        directions, model.bin_thresholds_)


def test_without_them_the_same_data_break_them():
    X, y, _ = table(0)
    model = SymmetricBoostingRegressor(max_iter=8, max_bins=8).fit(X, y)
    with pytest.raises(AssertionError):
        assert_honoured(model.predict, X[:20], [1, 0, 0, 0], model.bin_thresholds_)


@pytest.mark.parametrize("cst", [[1, -1, 0, 1], [-1, 0, 0, 0]])
def test_two_classes(cst):
    X, y, _ = table(1, missing=True)
    model = SymmetricBoostingClassifier(max_iter=20, max_bins=8, monotonic_cst=cst)
    model.fit(X, y > np.median(y))
    assert_honoured(lambda Z: np.round(model.decision_function(Z), 9), X[:30], cst,
                    model.bin_thresholds_)


@pytest.mark.parametrize("values, targets", [([2.0, np.nan], [0.0, -5.0]), ([0.0, 1.0, np.nan], [0.0, 10.0, -1.0])])
def test_missing_values_are_in_no_order(values, targets):
    """Neither where a split parts them from all others nor where two at one threshold do."""
    X = np.array(values)[:, np.newaxis]
    model = SymmetricBoostingRegressor(max_iter=1, max_depth=len(X) - 1, learning_rate=1.0, l2_leaf_reg=0.0,
                                       random_strength=0.0, monotonic_cst=[1])
    model.fit(np.repeat(X, 50, axis=0), np.repeat(targets, 50))
    np.testing.assert_allclose(model.predict(X), targets, atol=1e-12)


@pytest.mark.parametrize("direction", [-1, 1])
@pytest.mark.parametrize("of_missing", [-5.0, 5.0])
def test_missing_values_are_parted_first(direction, of_missing):
    """A split that sets them apart violates no constraint, whatever their target."""
    X, y = np.repeat([[0.0], [1.0], [np.nan]], 50, axis=0), np.repeat([0.0, 1.0, of_missing], 50)
    model = SymmetricBoostingRegressor(max_iter=1, max_depth=1, learning_rate=1.0, l2_leaf_reg=0.0, random_strength=0.0,
                                       monotonic_cst=[direction]).fit(X, y)
    np.testing.assert_allclose(model.predict([[0.0], [1.0], [np.nan]]), [0.5, 0.5, of_missing], atol=1e-12)


def test_names_and_refusals():
    pd = pytest.importorskip("pandas")
    X, y, _ = table(2)
    frame = pd.DataFrame(X, columns=list("abcd"))
    by_name = SymmetricBoostingRegressor(max_iter=5, monotonic_cst={"b": -1, "d": 1})
    by_place = SymmetricBoostingRegressor(max_iter=5, monotonic_cst=[0, -1, 0, 1])
    for model in (by_name, by_place):
        model.set_params(random_state=0).fit(frame, y)
    np.testing.assert_array_equal(by_name.predict(frame), by_place.predict(frame))
    for cst, target, message in (([1, 0, 0], y, "shape"), ([2, 0, 0, 0], y, "monotonic_cst"),
                                 ([1, 0, 0, 0], np.column_stack([y, y]), "one raw score"),
                                 ({"e": 1}, y, "e")):
        with pytest.raises(ValueError, match=message):
            SymmetricBoostingRegressor(monotonic_cst=cst).fit(frame, target)
    with pytest.raises(ValueError, match="one raw score"):
        SymmetricBoostingClassifier(monotonic_cst=[1, 0, 0, 0]).fit(frame, np.arange(150) % 3)


def order_constraints(model, cst):
    """Pairs (low, high) of leaves that neighbouring cells of a fine grid put in order."""
    thresholds = model.bin_thresholds_
    axes = [np.concatenate([[-np.inf], np.nextafter(t, np.inf)]) for t in thresholds]
    cells = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    leaf = model.apply(cells.reshape(-1, len(axes)))[:, 0].reshape(cells.shape[:-1])
    pairs = set()
    for axis, direction in enumerate(cst):
        low = np.take(leaf, range(leaf.shape[axis] - 1), axis).ravel()
        high = np.take(leaf, range(1, leaf.shape[axis]), axis).ravel()
        ordered = (low, high) if direction > 0 else (high, low)
        if direction:
            pairs |= {(a, b) for a, b in zip(*ordered, strict=True) if a != b}
    return sorted(pairs)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("cst", [[1, 0], [1, 1], [-1, 1]])
def test_leaf_values_are_the_nearest_monotone_ones(seed, cst):
    """The quadratic program: least weighted squares to the free leaf values."""
    X, y, rng = table(seed, n=120, d=2)
    weight = rng.uniform(0.2, 3, len(X))
    one_tree = {"max_iter": 1, "learning_rate": 1.0, "l2_leaf_reg": 0.0, "random_state": seed,
                "max_depth": 4, "max_bins": 6, "score_noise": "gumbel", "random_strength": 1e6}
    model = SymmetricBoostingRegressor(**one_tree, monotonic_cst=cst)
    model.fit(X, y, sample_weight=weight)
    leaf, residual = model.apply(X)[:, 0], y - model.baseline_[0]
    used = np.unique(leaf)
    total = np.array([weight[leaf == number].sum() for number in used])
    mean = np.array([np.average(residual[leaf == number], weights=weight[leaf == number])
                     for number in used])
    place = {number: i for i, number in enumerate(used)}
    pairs = order_constraints(model, cst)
    assert all(a in place and b in place for a, b in pairs), "a leaf of the grid is empty"
    rows = np.zeros((len(pairs), len(used)))
    for row, (low, high) in zip(rows, pairs, strict=True):
        row[place[low]], row[place[high]] = -1.0, 1.0
    best = minimize(lambda v: total @ (v - mean) ** 2, np.zeros(len(used)), method="SLSQP",
                    jac=lambda v: 2 * total * (v - mean), options={"ftol": 1e-14, "maxiter": 500},
                    constraints=LinearConstraint(rows, 0, np.inf))
    values = model.trees_.leaf_values[0, used, 0]
    assert np.all(rows @ values >= 0)
    np.testing.assert_allclose(values, best.x, rtol=0, atol=1e-5 * np.abs(mean).max())
