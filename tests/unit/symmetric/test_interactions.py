"""Interaction constraints: trees combine what they may, and do where it helps."""

from itertools import combinations

import fctree
import numpy as np
import pandas as pd
import pytest
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from fctree.inspection import variable_importance

SMALL = {"max_iter": 40, "max_depth": 4, "learning_rate": 0.3, "random_state": 0}
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (600, 6))
Y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] + X[:, 5] ** 2


def sets_of_columns(model):
    """The columns of each tree."""
    sources = np.arange(X.shape[1]) if model.encoder_ is None else model.encoder_.sources
    return [{int(sources[f]) for f in tree if f >= 0} for tree in model.trees_.split_feature]


def allowed_by(constraints, columns):
    return any(columns <= set(members) for members in constraints)


@pytest.mark.parametrize("settings", [
    {}, {"colsample": 0.5, "subsample": 0.7}, {"score_noise": "gumbel"}, {"score_function": "cosine"},
    {"monotonic_cst": [0, 0, 0, 0, 1, 0]}])
@pytest.mark.parametrize("constraints, in_full", [
    ("no_interactions", [{column} for column in range(6)]),
    ("pairwise", [*map(set, combinations(range(6), 2))]),
    ([{0, 1}, [2, 3]], [{0, 1}, {2, 3}, {4, 5}]),
    ([(0, 1, 2), (2, 3, 4, 5)], [{0, 1, 2}, {2, 3, 4, 5}]),
    ([range(6)], [set(range(6))]),
])
def test_trees_hold_columns_that_may_be_combined(constraints, in_full, settings):
    model = SymmetricBoostingRegressor(**SMALL, **settings, interaction_cst=constraints).fit(X, Y)
    trees = sets_of_columns(model)
    assert all(allowed_by(in_full, columns) for columns in trees)
    assert max(map(len, trees)) > 1 or constraints == "no_interactions"
    free = SymmetricBoostingRegressor(**SMALL, **settings).fit(X, Y)
    if len(in_full) > 1:
        assert not all(allowed_by(in_full, columns) for columns in sets_of_columns(free))
    else:
        np.testing.assert_array_equal(model.trees_.leaf_values, free.trees_.leaf_values)


def test_a_column_counts_once():
    """Of the two that a tree may combine, however often it splits one of them."""
    model = SymmetricBoostingRegressor(**SMALL, interaction_cst="pairwise").fit(X, Y)
    assert any(first == second >= 0 and third not in (first, -1) for first, second, third, _ in model.trees_.split_feature)


def test_predictions_are_additive_over_sets():
    """A change of one set's columns adds the same, whatever the others are."""
    model = SymmetricBoostingRegressor(**SMALL, interaction_cst=[{0, 1}, {2, 3}, {4}]).fit(X, Y)
    here, there = X[:300].copy(), X[:300].copy()
    there[:, :2] = X[300:, :2]
    elsewhere = [rows.copy() for rows in (here, there)]
    for rows in elsewhere:
        rows[:, 2:] = X[300:, 2:]
    change = model.predict(there) - model.predict(here)
    np.testing.assert_allclose(model.predict(elsewhere[1]) - model.predict(elsewhere[0]), change, atol=1e-12)
    assert np.std(change) > 0.1


def test_products_need_both_columns():
    """A product is learnt where a set has both of its columns, and not elsewhere."""
    y = X[:, 0] * X[:, 1]
    new = np.random.default_rng(1).uniform(-1, 1, (500, 6))
    fit = {**SMALL, "max_iter": 100}

    def error(constraints):
        model = SymmetricBoostingRegressor(**fit, interaction_cst=constraints).fit(X, y)
        return np.mean((model.predict(new) - new[:, 0] * new[:, 1]) ** 2)

    assert error([{0, 1}]) < 0.02 < 0.09 < error("no_interactions")


@pytest.mark.parametrize("constraints", ["no_interactions", "pairwise", [["age", "city"], [2]]])
def test_columns_of_tables(constraints):
    """Indicators and statistics of categories are of one column; sets may name columns."""
    frame = pd.DataFrame({"age": X[:, 0], "city": np.array(list("abcdefghij"))[rng.integers(0, 10, 600)],
                          "size": rng.choice(["s", "m", "l"], 600)})
    labels = (X[:, 0] + (frame["city"] < "d") + (frame["size"] == "m") > 0.7).to_numpy()
    model = SymmetricBoostingClassifier(**SMALL, interaction_cst=constraints).fit(frame, labels)
    in_full = {"no_interactions": [{0}, {1}, {2}], "pairwise": [{0, 1}, {0, 2}, {1, 2}]}
    trees = sets_of_columns(model)
    expected = in_full[constraints] if isinstance(constraints, str) else [{0, 1}, {2}]
    assert all(allowed_by(expected, columns) for columns in trees)
    assert len(model.encoder_.pairs) == 0 and len({*map(frozenset, trees)}) > 1


def test_continued_fits_and_threads_are_the_same_bytes():
    settings = {**SMALL, "colsample": 0.7, "interaction_cst": "pairwise"}
    whole = SymmetricBoostingRegressor(**settings).fit(X, Y)
    parts = SymmetricBoostingRegressor(**{**settings, "max_iter": 10}, warm_start=True, n_jobs=3).fit(X, Y)
    parts.set_params(max_iter=40).fit(X, Y)
    assert whole.trees_.leaf_values.tobytes() == parts.trees_.leaf_values.tobytes()


@pytest.mark.parametrize("method", ["retrain", "dropout", "early_stopping"])
def test_importances_of_constrained_models(method):
    """Models without a column have the constraints of the other columns: with `y` a product of two that
    may not be combined none says anything."""
    model = SymmetricBoostingRegressor(**SMALL, interaction_cst=[{0, 2}, {1, 3}, {4}, {5}]).fit(X, Y)
    result = variable_importance(model, X, Y, method=method, random_state=0)
    assert result.importances[4] > 10 * abs(result.importances[0])


@pytest.mark.parametrize("constraints, message", [
    ("all", "interaction_cst"), (3, "interaction_cst"), ({0, 1}, "interaction_cst"),
    ([0, 1], "the set 0"), (["ab"], "the set 'ab'"), ([{0, 6}], "the column 6"), ([{-1}], "the column -1"),
    ([{"age"}], "the column 'age'"), ([[0.5]], "the column 0.5"), ([[True, 0]], "the column True"), ([[0, None]], "the column None"),
])
def test_other_constraints_are_refused(constraints, message):
    for kind, y in ((SymmetricBoostingRegressor, Y), (SymmetricBoostingClassifier, Y > 0)):
        with pytest.raises(ValueError, match=message):
            kind(**SMALL, interaction_cst=constraints).fit(X, y)


def test_sets_that_hold_nothing():
    """Columns in no set make one more: here all of them."""
    free = SymmetricBoostingRegressor(**SMALL).fit(X, Y)
    for constraints in ([], [set()]):
        model = SymmetricBoostingRegressor(**SMALL, interaction_cst=constraints).fit(X, Y)
        assert model.trees_.leaf_values.tobytes() == free.trees_.leaf_values.tobytes()


def test_posterior_samples_know_no_constraints():
    model = fctree.SymmetricBoostingRegressor(**SMALL, interaction_cst="pairwise", posterior_samples=3)
    with pytest.raises(ValueError, match="posterior_samples and interaction_cst"):
        model.fit(X, Y)
