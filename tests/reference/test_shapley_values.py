"""Shapley values against the definition, orders of players, and the constrained fit."""

from itertools import permutations
from math import comb

import numpy as np
import pytest

from fctree.inspection.subsets import AllSubsets, DrawnSubsets


def game(n_players, seed=0):
    """Scores of all subsets, by their bits."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal(2**n_players)


def number(kept):
    return kept @ (1 << np.arange(kept.shape[-1]))


def values_by_orders(scores, n_players):
    """Mean over all orders of what a player adds to those before it."""
    total, orders = np.zeros(n_players), list(permutations(range(n_players)))
    for order in orders:
        before = 0
        for player in order:
            total[player] += scores[before | 1 << player] - scores[before]
            before |= 1 << player
    return total / len(orders)


@pytest.mark.parametrize("n_players", [1, 2, 3, 5])
def test_all_subsets_are_the_mean_over_orders(n_players):
    subsets, scores = AllSubsets(n_players), game(n_players)
    np.testing.assert_array_equal(number(subsets.kept), np.arange(2**n_players))
    found = subsets.weights @ scores
    np.testing.assert_allclose(found, values_by_orders(scores, n_players), atol=1e-12)
    assert found.sum() == pytest.approx(scores[-1] - scores[0], abs=1e-12)


def fit_with_constraints(subsets, n_players, scores):
    """The quadratic program by its Karush-Kuhn-Tucker system, psi = (v(empty), phi)."""
    Z = np.column_stack([np.ones(len(subsets.kept)), subsets.kept])
    pairs = number(subsets.kept[1:-1])
    shares = np.zeros(len(Z))
    shares[1:-1] = np.bincount(subsets._pairs.ravel(), minlength=len(pairs))
    G = np.array([[1.0] + [0.0] * n_players, [0.0] + [1.0] * n_players])
    moments = 2 * Z.T @ (shares[:, None] * Z)
    system = np.block([[moments, G.T], [G, np.zeros((2, 2))]])
    right = np.concatenate(
        [2 * Z.T @ (shares * scores), [scores[0], scores[-1] - scores[0]]]
    )
    return np.linalg.solve(system, right)[1 : n_players + 1]


def test_drawn_subsets_are_the_constrained_fit():
    subsets = DrawnSubsets(6, 40, np.random.default_rng(0))
    scores = game(6)[number(subsets.kept)]
    expected = fit_with_constraints(subsets, 6, scores)
    np.testing.assert_allclose(subsets.weights @ scores, expected, atol=1e-10)


def test_drawn_subsets_tend_to_the_shapley_values():
    """Draws by the paper's weights, not those of sizes alone, have the right limit."""
    scores = game(6, seed=3)
    expected = AllSubsets(6).weights @ scores
    subsets = DrawnSubsets(6, 400_000, np.random.default_rng(0))
    found = subsets.weights @ scores[number(subsets.kept)]
    error = subsets.sampling_error(scores[number(subsets.kept)])
    assert error.max() < 0.005
    assert np.all(np.abs(found - expected) < 5 * error)


def test_draws_have_the_kernel_weights():
    n_players = 7
    subsets = DrawnSubsets(n_players, 200_000, np.random.default_rng(1))
    inner = subsets.kept[1:-1]
    share = np.bincount(subsets._pairs.ravel()) / subsets._pairs.size
    sizes = inner.sum(axis=1)
    weight = np.array([1.0 / comb(n_players - 2, s - 1) for s in sizes])
    # Each subset's share of 2e5 draws has an error of at most 1 in 20.
    np.testing.assert_allclose(share, weight / weight.sum(), rtol=0.2)


def test_sampling_error_is_that_of_repetitions():
    scores = game(6, seed=5)
    found, errors = [], []
    for seed in range(300):
        subsets = DrawnSubsets(6, 200, np.random.default_rng(seed))
        of_drawn = scores[number(subsets.kept)]
        found.append(subsets.weights @ of_drawn)
        errors.append(subsets.sampling_error(of_drawn) ** 2)
    # Standard deviations of 300 repetitions are known to 4 %; the linearisation costs more.
    ratio = np.std(found, axis=0) / np.sqrt(np.mean(errors, axis=0))
    assert np.all((ratio > 0.8) & (ratio < 1.25)), ratio


def test_sampling_error_of_few_draws_is_not_too_small():
    """Six draws a player: residuals of the fit itself, which follows them, give .7 to .8 of the deviation."""
    scores = game(10, seed=5)
    expected = AllSubsets(10).weights @ scores
    deviations, errors = [], []
    for seed in range(400):
        subsets = DrawnSubsets(10, 60, np.random.default_rng(seed))
        of_drawn = scores[number(subsets.kept)]
        deviations.append(subsets.weights @ of_drawn - expected)
        errors.append(subsets.sampling_error(of_drawn))
    deviations, errors = np.array(deviations), np.array(errors)
    ratio = np.sqrt((errors**2).mean(axis=0) / (deviations**2).mean(axis=0))
    assert np.all((ratio > 1.0) & (ratio < 1.6)), ratio
    assert np.mean(np.abs(deviations) < 1.96 * errors) > 0.94


def test_sampling_error_is_that_of_fits_without_a_pair():
    """The jackknife over pairs, fitted one by one."""
    subsets = DrawnSubsets(6, 60, np.random.default_rng(2))
    scores = game(6)[number(subsets.kept)]
    pairs, values = subsets._pairs, subsets.weights @ scores
    changes = []
    for left_out in range(len(pairs)):
        subsets._pairs = np.delete(pairs, left_out, axis=0)
        changes.append(fit_with_constraints(subsets, 6, scores) - values)
    subsets._pairs = pairs
    np.testing.assert_allclose(subsets.sampling_error(scores), np.linalg.norm(changes, axis=0), rtol=1e-9)


def test_sampling_error_is_infinite_where_one_pair_tells_values_apart():
    subsets = DrawnSubsets(3, 4, np.random.default_rng(0))
    assert len(subsets.kept) == 6
    assert np.all(np.isinf(subsets.sampling_error(np.arange(6.0))))


def test_additive_game_is_known_without_error():
    parts = np.array([1.0, -2.0, 0.0, 3.0, 0.5])
    subsets = DrawnSubsets(5, 30, np.random.default_rng(0))
    scores = 4.0 + subsets.kept @ parts
    np.testing.assert_allclose(subsets.weights @ scores, parts, atol=1e-12)
    assert subsets.sampling_error(scores).max() < 1e-12


def test_too_few_draws():
    with pytest.raises(ValueError, match="n_subsets=4 subsets do not tell 20 groups apart"):
        DrawnSubsets(20, 4, np.random.default_rng(0))
