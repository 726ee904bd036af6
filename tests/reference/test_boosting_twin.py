"""Symmetric boosting against reference/literal_boosting.py, tree by tree.

Splits must be the twin's best up to rounding, leaf values agree to 1e-9 of the largest: both
add doubles, in different orders, and the scores of some dozen rounds carry that on.
"""

import numpy as np
import pytest
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from loss_cases import REGRESSION_LOSSES, loss_parameters, targets_for
from reference.literal_boosting import LiteralBoosting
from reference.literal_philox import philox

LEAF_TOLERANCE = 1e-9


def table(n=120, d=4, *, missing=False, seed=0, weighted=False):
    """Continuous and coarse features, a smooth target; NaN in some columns if wanted."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1] = np.round(X[:, 1])
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)
    if missing:
        X[rng.random((n, d)) < [0.0, 0.1, 0.4] + (d - 3) * [0.2]] = np.nan
    return X, y, rng.uniform(0.2, 3, n) if weighted else None


def follow(model, X, y, weight=None, initial=None, *, n_exact=None):
    """Compares all trees; `n_exact`: at least so many splits must be the twin's own choice."""
    twin = LiteralBoosting(model, X, y, weight, initial)
    np.testing.assert_allclose(model.baseline_, twin.baseline, rtol=1e-12, atol=1e-14)
    spread = 2**model.trees_.depth
    n_splits = 0
    for tree, splits, _, values in twin.follow():
        n_splits += len(splits)
        stored = twin.model_values(tree, splits)
        np.testing.assert_allclose(stored, values, rtol=0,
                                   atol=LEAF_TOLERANCE * max(np.abs(values).max(), 1e-300))
        # The leaves that missing levels would have made hold nothing.
        rest = np.delete(model.trees_.leaf_values[tree],
                         np.arange(2 ** len(splits)) * (spread >> len(splits)), axis=0)
        assert not rest.any()
    np.testing.assert_allclose(-model.train_score_, twin.losses, rtol=1e-9, atol=1e-12)
    # Several candidates are often equally good, as cuts that part the same samples are.
    assert twin.n_exact >= (0.5 * n_splits if n_exact is None else n_exact)
    assert n_splits > 0, "the case shows nothing"
    return twin


def test_philox_gives_the_published_words():
    """The known answers of its authors' Random123."""
    assert philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    ones = 2**32 - 1
    assert philox((ones,) * 4, (ones,) * 2) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)


PLAIN = {"max_iter": 6, "max_depth": 3, "max_bins": 8, "random_strength": 0.0, "l2_leaf_reg": 1.0}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("score_function", ["l2", "cosine"])
@pytest.mark.parametrize("settings", [
    {"l2_leaf_reg": 0.0},
    {"l2_leaf_reg": 5.0, "min_samples_leaf": 12},
    {"max_bins": 2, "max_depth": 5},
], ids=str)
def test_squared_error(settings, score_function, weighted, missing):
    X, y, weight = table(missing=missing, weighted=weighted)
    model = SymmetricBoostingRegressor(**{**PLAIN, **settings}, score_function=score_function)
    model.fit(X, y, sample_weight=weight)
    follow(model, X, y[:, None], weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss, quantile", [
    *((loss, 0.2) for loss in REGRESSION_LOSSES if loss != "squared_error"),
    ("huber", 0.9), ("quantile", 0.5),
])
def test_other_losses(loss, quantile, weighted):
    X, y, weight = table(missing=True, weighted=weighted, seed=1)
    y = targets_for(loss, y)
    parameters = loss_parameters(loss, quantile=quantile)
    model = SymmetricBoostingRegressor(**PLAIN, **parameters, learning_rate=0.3)
    model.fit(X, y, sample_weight=weight)
    follow(model, X, y[:, None], weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_classes(n_classes, weighted):
    X, y, weight = table(missing=True, weighted=weighted, seed=2)
    labels = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    model = SymmetricBoostingClassifier(**PLAIN, learning_rate=0.5)
    model.fit(X, labels, sample_weight=weight)
    follow(model, X, labels[:, None], weight)


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_several_outputs(loss, weighted):
    X, y, weight = table(weighted=weighted, seed=3)
    Y = targets_for(loss, np.column_stack([y, 10 * X[:, 2] ** 2, -y]))
    model = SymmetricBoostingRegressor(**PLAIN, **loss_parameters(loss))
    model.fit(X, Y, sample_weight=weight)
    follow(model, X, Y, weight)


@pytest.mark.parametrize("score_noise, random_strength, loss", [
    ("normal", 1.0, "squared_error"), ("normal", 100.0, "squared_error"), ("normal", 1.0, "absolute_error"),
    ("gumbel", 0.01, "squared_error"), ("gumbel", 10.0, "squared_error"),
])
@pytest.mark.parametrize("weighted", [False, True])
def test_noise_and_samples_are_the_draws_that_the_seed_says(score_noise, random_strength, loss, weighted):
    """With the seed known the twin draws the same noise, rows and features."""
    X, y, weight = table(n=90, missing=True, weighted=weighted, seed=4)
    model = SymmetricBoostingRegressor(**{**PLAIN, "random_strength": random_strength},
                                       score_noise=score_noise, subsample=0.6, colsample=0.5,
                                       learning_rate=1.0, random_state=7, loss=loss)
    model.fit(X, y, sample_weight=weight)
    follow(model, X, y[:, None], weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("random_strength, one_of", [(1.0, 3), (2.0, 3), (0.4, 2), (0.3, 1), (0.0, 1)])
def test_splits_of_long_tables_are_searched_on_the_rows_that_the_seed_says(random_strength, one_of, weighted):
    X, y, weight = table(n=110_000, d=3, weighted=weighted, missing=weighted, seed=6)
    parameters = {**PLAIN, "max_iter": 2, "random_strength": random_strength}
    model = SymmetricBoostingRegressor(**parameters, random_state=7).fit(X, y, sample_weight=weight)
    assert follow(model, X, y[:, None], weight).one_of == (min(one_of, 2) if weighted else one_of)


@pytest.mark.parametrize("parameters", [{"min_samples_leaf": 2}, {"max_depth": 8}, {"subsample": 0.9},
                                        {"score_noise": "gumbel"}], ids=str)
def test_these_search_all_rows_of_long_tables(parameters):
    X, y, _ = table(n=50_000, d=3, seed=6)
    model = SymmetricBoostingRegressor(**{**PLAIN, "max_iter": 1, "max_bins": 4, "random_strength": 1.0, **parameters})
    assert follow(model.fit(X, y), X, y[:, None]).one_of == 1


@pytest.mark.parametrize("share, one_of", [(0.3, 3), (0.005, 1)])
def test_rare_events_need_more_rows(share, one_of):
    X, y, _ = table(n=75_000, d=3, seed=8)
    model = SymmetricBoostingClassifier(**{**PLAIN, "max_iter": 1, "random_strength": 1.0})
    labels = (y > np.quantile(y, 1 - share)).astype(int)
    assert follow(model.fit(X, labels), X, labels[:, None]).one_of == one_of


def test_noise_of_the_classifier():
    X, y, _ = table(n=90, seed=5)
    labels = np.searchsorted(np.quantile(y, [0.3, 0.7]), y)
    model = SymmetricBoostingClassifier(**{**PLAIN, "random_strength": 2.0}, random_state=3)
    follow(model.fit(X, labels), X, labels[:, None])


def test_starting_scores():
    X, y, weight = table(weighted=True, seed=6)
    start = X[:, 3] ** 2
    model = SymmetricBoostingRegressor(**PLAIN)
    model.fit(X, y, sample_weight=weight, init_score=start)
    follow(model, X, y[:, None], weight, start[:, None])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss, score_function", [
    ("squared_error", "l2"), ("gamma", "l2"), ("squared_error", "cosine"), ("gamma", "cosine")])
def test_monotone_choice_of_splits(loss, score_function, weighted):
    """Scores count a leaf as uncut where its cut would have the wrong direction."""
    X, y, weight = table(missing=True, weighted=weighted, seed=8)
    y = targets_for(loss, y)
    parameters = {**PLAIN, "loss": loss, "score_function": score_function}
    model = SymmetricBoostingRegressor(**parameters, monotonic_cst=[1, 0, -1, 0])
    model.fit(X, y, sample_weight=weight)
    twin = LiteralBoosting(model, X, y[:, None], weight)
    for _ in twin.follow():
        pass
    np.testing.assert_allclose(-model.train_score_, twin.losses, rtol=1e-9)


def test_many_rows_in_several_tiles():
    """More rows than one tile holds, and more than one group of features."""
    X, y, _ = table(n=9000, d=11, missing=True, seed=9)
    model = SymmetricBoostingRegressor(**{**PLAIN, "max_iter": 1, "max_bins": 5}, n_jobs=2)
    follow(model.fit(X, y), X, y[:, None])


def test_infinite_values_are_the_ends_of_the_line():
    X, y, _ = table(n=60, missing=True, seed=10)
    X[::5, 0], X[1::5, 0], X[::4, 3] = np.inf, -np.inf, np.inf
    for max_bins in (4, 254):
        model = SymmetricBoostingRegressor(**{**PLAIN, "max_bins": max_bins}).fit(X, y)
        follow(model, X, y[:, None])
