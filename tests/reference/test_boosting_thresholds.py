"""Candidate thresholds: all midpoints of few values, else bins of nearly equal weight."""

import numpy as np
import pytest
from fctree import SymmetricBoostingRegressor


def thresholds_of(X, max_bins, weight=None, seed=0):
    model = SymmetricBoostingRegressor(max_iter=1, max_depth=1, max_bins=max_bins,
                                       random_state=seed)
    return model.fit(X, np.arange(len(X), dtype=float), sample_weight=weight).bin_thresholds_


def literal_thresholds(values, weight, max_bins):
    """The rule of native/symmetric/thresholds.hpp, one distinct value after the other."""
    distinct = np.unique(values)
    heavy = np.array([weight[values == v].sum() for v in distinct])
    if len(distinct) <= max_bins:
        return (distinct[1:] + distinct[:-1]) / 2
    found, inside = [], 0.0
    left = heavy.sum()
    for i in range(len(distinct) - 1):
        bins_left = max_bins - len(found)
        if bins_left == 1:
            break
        inside += heavy[i]
        needed = len(distinct) - 1 - i < bins_left
        # Closed where its weight is nearest to an equal share of what is left.
        without, with_next = (abs(w - left / bins_left) for w in (inside, inside + heavy[i + 1]))
        if with_next < without and not needed:
            continue
        found.append((distinct[i] + distinct[i + 1]) / 2)
        left, inside = left - inside, 0.0
    return np.array(found)


def test_few_values_have_a_threshold_between_every_two():
    values = np.repeat([-3.0, 0.0, 0.5, 10.0], [1, 50, 3, 200])
    (found,) = thresholds_of(values[:, None], 4)
    np.testing.assert_array_equal(found, [-1.5, 0.25, 5.25])


def test_as_many_bins_as_allowed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 3))
    for max_bins in (2, 3, 17, 128, 254):
        for found in thresholds_of(X, max_bins):
            assert len(found) == max_bins - 1
            assert np.all(np.diff(found) > 0)


@pytest.mark.parametrize("max_bins", [2, 5, 32])
@pytest.mark.parametrize("kind", ["continuous", "skewed", "heavy", "integers", "heavy above 32"])
def test_the_literal_rule(kind, max_bins):
    rng = np.random.default_rng(1)
    values = {
        "continuous": rng.standard_normal(500),
        "skewed": np.exp(3 * rng.standard_normal(500)),
        "heavy": np.where(rng.random(500) < 0.6, 1.0, rng.standard_normal(500)),
        "integers": rng.poisson(30, 500).astype(float),
        "heavy above 32": np.minimum(np.arange(500.0), 32.0),  # of 32 bins two values share one
    }[kind]
    # Weights are sums of quarters: exact, so that no two bins tie but for true ties.
    weight = rng.integers(1, 9, 500) / 4
    for w in (np.ones(500), weight):
        (found,) = thresholds_of(values[:, None], max_bins, w)
        # The same cuts; the midpoint may be rounded another way.
        np.testing.assert_allclose(found, literal_thresholds(values, w, max_bins), rtol=1e-12)


def test_bins_weigh_about_the_same():
    X = np.random.default_rng(2).standard_normal((10_000, 1))
    (found,) = thresholds_of(X, 100)
    counts = np.bincount(np.searchsorted(found, X[:, 0]))
    assert len(counts) == 100 and counts.min() == counts.max() == 100


def test_a_heavy_value_takes_one_bin_and_leaves_the_others():
    rng = np.random.default_rng(3)
    values = np.concatenate([np.zeros(900), rng.uniform(1, 2, 100)])
    (found,) = thresholds_of(values[:, None], 11)
    counts = np.bincount(np.searchsorted(found, values))
    assert counts[0] == 900
    np.testing.assert_array_equal(counts[1:], 10)


@pytest.mark.parametrize("max_bins", [3, 10, 254])
def test_weights_are_repetitions(max_bins):
    rng = np.random.default_rng(4)
    X, weight = rng.standard_normal((300, 2)), rng.integers(0, 4, 300)
    weighted = thresholds_of(X, max_bins, weight.astype(float))
    repeated = thresholds_of(np.repeat(X, weight, axis=0), max_bins)
    for a, b in zip(weighted, repeated, strict=True):
        np.testing.assert_array_equal(a, b)


def test_missing_values_do_not_move_thresholds():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 1))
    (expected,) = thresholds_of(X, 9)
    (found,) = thresholds_of(np.concatenate([X, np.full((70, 1), np.nan)]), 9)
    np.testing.assert_array_equal(found[np.isfinite(found)], expected)


def test_infinities_are_values():
    X = np.array([-np.inf, 0.0, 1.0, np.inf])[:, None]
    (found,) = thresholds_of(X, 254)
    codes = np.searchsorted(found, X[:, 0])
    np.testing.assert_array_equal(codes, [0, 1, 2, 3])
    assert found[-1] == np.finfo(float).max  # below infinity alone
    (found,) = thresholds_of(np.concatenate([X, np.linspace(-5, 5, 100)[:, None]]), 4)
    assert len(found) == 3 and np.all(np.diff(found) > 0)


@pytest.mark.parametrize("lower, upper", [
    (1.0, np.nextafter(1.0, 2)), (-np.finfo(float).max, np.finfo(float).max), (0.0, 5e-324),
    (-5e-324, 0.0), (np.finfo(float).max, np.inf), (-np.inf, -np.finfo(float).max),
    (-np.inf, np.inf),
])
def test_any_two_values_are_parted(lower, upper):
    (found,) = thresholds_of(np.array([[lower], [upper]]), 2)
    assert not lower > found[0] and upper > found[0]


def test_values_are_distinct_as_the_model_sees_them():
    """Neighbouring float32 numbers have a threshold between them that both respect."""
    low = np.float32(0.1)
    X = np.array([[low], [np.nextafter(low, np.float32(1))]], dtype=np.float32)
    (found,) = thresholds_of(X, 2)
    assert float(X[0, 0]) <= found[0] < float(X[1, 0])


def test_large_tables_are_cut_by_a_sample_of_their_rows():
    n = 300_000
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.standard_normal(n), rng.integers(0, 5, n), np.zeros(n)])
    X[-1, 1] = 77.0  # rare, but distinct values are counted in all rows
    found = thresholds_of(X, 50)
    counts = np.bincount(np.searchsorted(found[0], X[:, 0]))
    # A bin's share of the sample of 65,536 rows is exact, of all rows up to 4 standard deviations.
    assert len(counts) == 50
    assert np.all(np.abs(counts / n - 0.02) < 4 * np.sqrt(0.02 * 0.98 / 65_536))
    np.testing.assert_array_equal(found[1], [0.5, 1.5, 2.5, 3.5, 40.5])
    assert len(found[2]) == 0
    # As many distinct values as bins have a threshold between every two; one more and they share bins.
    assert [len(thresholds_of(X[:, 1:2], max_bins)[0]) for max_bins in (6, 5)] == [5, 4]


def test_thresholds_do_not_depend_on_other_columns_or_threads():
    X = np.random.default_rng(7).standard_normal((400, 5))
    X[:, 3] = np.round(X[:, 3])
    expected = thresholds_of(X, 20)
    for column, found in enumerate(thresholds_of(X[:, ::-1], 20)[::-1]):
        np.testing.assert_array_equal(found, expected[column])
    (alone,) = thresholds_of(X[:, 3:4], 20)
    np.testing.assert_array_equal(alone, expected[3])
