"""The frequencies with which noise lets each tree grow, against the probabilities that its definition gives.

Seeds are fixed, so a test passes always or never. Draws of one fit differ by the number of
the tree: where leaf values are next to nothing, each tree is a draw for the same gradients.
"""

from itertools import permutations

import numpy as np
import pytest
from fctree import SymmetricBoostingRegressor
from scipy.special import softmax
from scipy.stats import chisquare, norm

N_DRAWS = 8000


def small_table(seed=0, n=30):
    """Five candidates: three thresholds of one feature, one each of two more."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, k, n) for k in (4, 2, 2)]).astype(float)
    y = X[:, 0] - 1.3 * X[:, 1] * X[:, 2] + rng.standard_normal(n)
    return X, y, rng.uniform(0.5, 2, n)


def candidates_of(model):
    return [(f, t) for f, values in enumerate(model.bin_thresholds_) for t in values]


def scores_of(X, y, weight, chosen, l2_leaf_reg):
    """Sum over the leaves that the chosen candidates make of S^2 / (W + l2)."""
    residual = y - weight @ y / weight.sum()
    leaf = sum((X[:, f] > t).astype(int) << i for i, (f, t) in enumerate(chosen))
    return sum((weight[leaf == j] @ residual[leaf == j]) ** 2
               / (weight[leaf == j].sum() + l2_leaf_reg) for j in np.unique(leaf))


def exact_distribution(X, y, weight, candidates, beta, depth, l2_leaf_reg=0.0):
    """{candidates in order: probability} of SampleTree."""
    distribution = {}
    for order in permutations(candidates, depth):
        p, above = 1.0, []
        for chosen in order:
            free = [c for c in candidates if c not in above]
            D = [scores_of(X, y, weight, [*above, c], l2_leaf_reg) / weight.sum() for c in free]
            p *= softmax(np.array(D) / beta)[free.index(chosen)]
            above.append(chosen)
        distribution[order] = p
    return distribution


def structures(model):
    trees = model.trees_
    return [tuple(zip(f.tolist(), t.tolist(), strict=True))
            for f, t in zip(trees.split_feature, trees.split_threshold, strict=True)]


def assert_frequencies(found, distribution):
    """Chi-square at the 0.1 % level; what is expected less than five times is one class."""
    names = list(distribution)
    counts = np.array([found.count(name) for name in names], dtype=float)
    assert counts.sum() == len(found), "a tree that the definition does not know"
    expected = len(found) * np.array([distribution[name] for name in names])
    rare = expected < 5
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    assert len(counts) > 3, "the case shows nothing"
    assert chisquare(counts, expected).pvalue > 1e-3


DRAW = {"score_noise": "gumbel", "max_depth": 2, "l2_leaf_reg": 0.0, "learning_rate": 1e-12}


@pytest.mark.parametrize("beta", [0.05, 0.3, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_gumbel_noise_is_an_exact_softmax(beta, weighted):
    X, y, weight = small_table()
    weight = weight if weighted else np.ones(len(X))
    model = SymmetricBoostingRegressor(**DRAW, random_strength=beta, max_iter=N_DRAWS,
                                       random_state=1)
    model.fit(X, y, sample_weight=weight if weighted else None)
    candidates = candidates_of(model)
    assert len(candidates) == 5
    assert_frequencies(structures(model),
                       exact_distribution(X, y, weight, candidates, beta, 2))


def test_gumbel_noise_over_seeds():
    """The first tree of many models, as the others draw from the trees of one."""
    X, y, _ = small_table(seed=1)
    found = []
    for seed in range(1500):
        model = SymmetricBoostingRegressor(**DRAW, random_strength=0.2, max_iter=1,
                                           random_state=seed).fit(X, y)
        found += structures(model)
    assert_frequencies(found, exact_distribution(X, y, np.ones(len(X)), candidates_of(model),
                                                 0.2, 2))


def test_the_penalty_counts_in_the_softmax():
    X, y, weight = small_table(seed=2)
    model = SymmetricBoostingRegressor(**{**DRAW, "l2_leaf_reg": 10.0}, random_strength=0.1,
                                       max_iter=N_DRAWS, random_state=2)
    model.fit(X, y, sample_weight=weight)
    assert_frequencies(structures(model), exact_distribution(
        X, y, weight, candidates_of(model), 0.1, 2, l2_leaf_reg=10.0))


@pytest.mark.parametrize("strength", [1e6, 1e100])
def test_strong_gumbel_noise_is_uniform(strength):
    X, y, _ = small_table(seed=3)
    model = SymmetricBoostingRegressor(**DRAW, random_strength=strength, max_iter=N_DRAWS,
                                       random_state=3).fit(X, y)
    orders = list(permutations(candidates_of(model), 2))
    assert_frequencies(structures(model), {order: 1 / len(orders) for order in orders})


def test_gumbel_noise_without_gradients_is_uniform():
    X, _, _ = small_table(seed=4)
    model = SymmetricBoostingRegressor(**DRAW, random_strength=0.01, max_iter=N_DRAWS,
                                       random_state=4).fit(X, np.full(len(X), 0.1))
    orders = list(permutations(candidates_of(model), 2))
    assert_frequencies(structures(model), {order: 1 / len(orders) for order in orders})


def test_gumbel_noise_uses_a_candidate_once():
    X, y, _ = small_table(seed=5)
    model = SymmetricBoostingRegressor(**{**DRAW, "max_depth": 8}, random_strength=1.0,
                                       max_iter=200).fit(X, y)
    for order in structures(model):
        assert len(set(order[:5])) == 5
        assert order[5:] == ((-1, 0.0),) * 3  # after five candidates there is none left


def test_no_noise_is_greedy():
    X, y, _ = small_table(seed=6)
    fits = [SymmetricBoostingRegressor(max_iter=20, max_depth=2, random_strength=0.0,
                                       score_noise=noise, random_state=seed).fit(X, y)
            for noise in ("normal", "gumbel") for seed in (0, 1)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.predict(X), fits[0].predict(X))


def test_weak_noise_is_greedy():
    X, y, _ = small_table(seed=6)
    greedy = SymmetricBoostingRegressor(max_iter=20, max_depth=2, random_strength=0.0).fit(X, y)
    for noise in ("normal", "gumbel"):
        weak = SymmetricBoostingRegressor(max_iter=20, max_depth=2, random_strength=1e-15,
                                          score_noise=noise, random_state=0).fit(X, y)
        np.testing.assert_array_equal(weak.predict(X), greedy.predict(X))


def two_candidates(n=100, seed=7):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 2)).astype(float)
    return X, 0.6 * X[:, 0] + 0.4 * X[:, 1] + rng.standard_normal(n)


def test_normal_noise_has_the_stated_deviation_and_dies_out():
    """Of two candidates the better one wins with probability Phi(difference / (sqrt(2) sd)).

    A huge penalty keeps the leaf values, and so the gradients, as they are while the
    iterations times the learning rate let the noise decay.
    """
    X, y = two_candidates()
    l2_leaf_reg, rate, n = 1e9, 0.01, len(X)
    scores = [scores_of(X, y, np.ones(n), [(f, 0.5)], l2_leaf_reg) for f in (0, 1)]
    rms = np.sqrt(np.mean((y - y.mean()) ** 2))
    gap = np.sqrt(scores[0]) - np.sqrt(scores[1])
    strength = abs(gap) / rms  # one difference is one standard deviation at the start
    better = 0 if gap > 0 else 1
    wins = np.zeros(2500)
    n_seeds = 60
    for seed in range(n_seeds):
        model = SymmetricBoostingRegressor(
            max_iter=2500, max_depth=1, l2_leaf_reg=l2_leaf_reg, learning_rate=rate,
            random_strength=strength, random_state=seed).fit(X, y)
        wins += model.trees_.split_feature[:, 0] == better
    q = n * np.exp(-rate * np.arange(2500))
    sd = strength * rms * q / (1 + q)
    p = norm.cdf(abs(gap) / (np.sqrt(2) * sd))
    for window in (slice(0, 200), slice(300, 460), slice(460, 520), slice(520, 600)):
        expected = n_seeds * p[window].sum()
        spread = np.sqrt(n_seeds * (p * (1 - p))[window].sum())
        assert spread > 1
        assert abs(wins[window].sum() - expected) < 4 * spread
    assert p[0] < 0.77 < 0.999999 < p[1500]
    assert np.all(wins[1500:] == n_seeds)


def test_strong_normal_noise_is_uniform_over_candidates_at_first():
    X, y, _ = small_table(seed=8)
    found = []
    for seed in range(40):
        model = SymmetricBoostingRegressor(max_iter=100, max_depth=1, random_strength=1e6,
                                           learning_rate=1e-9, random_state=seed).fit(X, y)
        found += structures(model)
    names = [((f, t),) for f, t in candidates_of(model)]
    assert_frequencies(found, {name: 1 / len(names) for name in names})
