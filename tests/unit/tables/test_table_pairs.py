"""Statistics of pairs of columns, of many classes, and of what a linear model of the numbers leaves."""

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    export_text,
    load_model,
    save_model,
)
from fctree.persistence.table_checks import rebuild_table_encoder


def interacting(n=600, seed=0):
    """Two categories of which only the pair says something, and a number."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 6, n), rng.integers(0, 7, n)
    X = pd.DataFrame(
        {"shop": [f"s{v}" for v in a], "ware": [f"w{v}" for v in b], "x": rng.normal(size=n)}
    )
    return X, 3.0 * rng.normal(size=(6, 7))[a, b] + 0.1 * rng.normal(size=n)


def with_slopes(n=1000, seed=0):
    """A category that decides the slope of a number."""
    rng = np.random.default_rng(seed)
    place, x = rng.integers(0, 12, n), rng.normal(size=n)
    X = pd.DataFrame({"place": [f"p{v}" for v in place], "x": x})
    return X, np.where(place % 2, 2.0, -2.0) * x + 0.1 * rng.normal(size=n)


def beside_a_number(n=600, seed=0):
    """Small effects of a category beside the large one of a number."""
    rng = np.random.default_rng(seed)
    grade, x = rng.integers(0, 40, n), rng.normal(size=n)
    effect = rng.normal(size=40)
    X = pd.DataFrame({"grade": [f"g{v:02}" for v in grade], "x": x})
    return X, 5.0 * x + effect[grade] + 0.1 * rng.normal(size=n), effect


def test_a_pair_is_found_named_and_counted(tmp_path):
    X, y = interacting()
    tree = CurvatureTreeRegressor(max_depth=0).fit(X, y)
    assert tree.encoder_.pairs.tolist() == [[0, 1]]
    assert "shop x ware (target mean)" in export_text(tree, max_coef=None)
    model = SymmetricBoostingRegressor(max_iter=20, random_state=0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.9
    shop, ware, x = model.feature_importances_
    assert shop > 0.3 and ware > 0.3 and x < 0.2
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_cells_that_training_had_not_are_the_prior():
    X, y = interacting()
    kept = ~((X["shop"] == "s1") & (X["ware"] == "w2"))
    encoder = SymmetricBoostingRegressor(max_iter=1).fit(X[kept], y[kept]).encoder_
    names = encoder.feature_names(list(X))
    place = names.index("shop x ware (target mean)")
    row = encoder.transform(np.array([[1.0, 2.0, 0.0], [-1.0, 2.0, 0.0]]))
    np.testing.assert_allclose(row[:, place], encoder.priors[0])


def test_text_names_the_cells_that_training_had():
    X, y = interacting()
    kept = ~((X["shop"] == "s1") & (X["ware"] == "w2"))
    cells = export_text(CurvatureTreeRegressor(max_depth=0).fit(X[kept], y[kept]), max_coef=None).split("shop x ware (target mean): ")[1]
    names = [cell.rpartition(": ")[0] for cell in cells.splitlines()[0].split(", ")]
    expected = {f"{shop} x {ware}" for shop, ware in X.loc[kept, ["shop", "ware"]].itertuples(index=False)}
    assert set(names) == {*expected, "other"} and names[-1] == "other" and len(names) == len(expected) + 1
    table = pd.DataFrame({"city": ["a", "b", "c"] * 40, "garden": [True, False, True, False] * 30})
    value = (table["city"] == "a") ^ table["garden"]
    text = export_text(CurvatureTreeRegressor(max_depth=0).fit(table, value.astype(float)), max_coef=None)
    assert "a x >= 1: " in text and "a x 0 to 1: " in text and "< 0" not in text


def test_a_pair_of_a_category_and_a_number_knows_slopes():
    X, y = with_slopes()
    model = SymmetricBoostingRegressor(max_iter=40, max_depth=2, random_state=0)
    model.fit(X[:800], y[:800])
    assert model.encoder_.pairs.tolist() == [[0, 1]]
    assert len(model.encoder_.edges[1]) == 4
    new = X[800:].copy()
    assert model.score(new, y[800:]) > 0.8
    new.loc[new.index[0], "x"] = np.nan
    assert np.isfinite(model.predict(new)).all()


@pytest.mark.parametrize("model", [CurvatureTreeRegressor(), SymmetricBoostingRegressor(max_iter=50, random_state=0)])
def test_text_of_two_values_makes_a_pair_as_truth_values_do(model):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"city": rng.choice(list("abcdef"), 1000), "sex": rng.choice(["m", "f"], 1000)})
    y = X["city"].map(dict(zip("abcdef", (3, -3, 2, -2, 1, -1)))) * np.where(X["sex"] == "m", 1.0, -1.0)
    for table in (X, X.assign(sex=X["sex"] == "m")):
        assert model.fit(table, y).encoder_.pairs.tolist() == [[0, 1]]
        assert model.score(table, y) > 0.99


def test_constrained_numbers_are_in_no_pair():
    X, y = with_slopes()
    for constraint in ({"monotonic_cst": {"x": 1}}, {"interaction_cst": "no_interactions"}):
        model = SymmetricBoostingRegressor(max_iter=5, **constraint).fit(X, y)
        assert len(model.encoder_.pairs) == 0


@pytest.mark.parametrize("seed", range(3))
def test_noise_makes_no_pairs(seed):
    X, y = interacting(seed=seed)
    y = np.random.default_rng(seed).normal(size=len(y))
    assert len(CurvatureTreeRegressor(max_depth=0).fit(X, y).encoder_.pairs) == 0


def test_constant_columns_hide_no_pair():
    X, y = interacting()
    y += 9.0 * np.random.default_rng(1).normal(size=len(y))  # the pair is hardly told from chance
    beside_constants = X.assign(**{f"constant{i}": 1.0 for i in range(20)})
    for table in (X, beside_constants):
        tree = CurvatureTreeRegressor(max_depth=1, random_state=0).fit(table, y)
        np.testing.assert_array_equal(tree.encoder_.pairs, [[0, 1]])


def test_effects_do_not_vary_with_the_numbers():
    X, y, effect = beside_a_number()
    encoder = CurvatureTreeRegressor(max_depth=0).fit(X, y).encoder_
    assert "grade (mean effect)" in encoder.feature_names(list(X))
    of_y = encoder.units * encoder.statistics[0].T
    means, effects = (values - values.mean() for values in of_y)
    effect = effect - effect.mean()
    assert np.mean((effects - effect) ** 2) < 0.1 * np.mean((means - effect) ** 2)


SHOPS, WARES = list("abcdef"), list("abcdefg")
FORGED = {
    "pairs": [*map(np.array, ([[0, 3]], [[0, -1]], [[2, 0]], [[0, 0]], [[0, 1], [0, 1]], [[0, 1, 2]], [0, 1], [[0.0, 1.0]])), [[0, 1]]],
    "pair_statistics": [[], [np.zeros((3, 1))], (np.zeros((42, 1)),)],
    "pair_strengths": [[np.zeros(2)]],
    "edges": [[edges] * 3 for edges in (np.ones(2), np.arange(2), np.zeros((1, 1)), [0.0])],
    "more": [1],
    "impute": [0],
    "has_missing": [np.zeros(2, dtype=bool)],
    "means": [np.zeros(3, dtype=np.float32)],
    "targets": [np.array([-1])],
    "shares": [[], (np.ones(6), np.ones(7), np.empty(0)), [np.ones(6), np.ones(7), np.ones(1)]],
    "strengths": [[np.ones(3), np.ones(1), np.empty(0)]],
    "indicated": [np.ones(3, dtype=bool), [True, True, False]],
    "categories": [(SHOPS, WARES, None), *(
        [SHOPS, wares, None] for wares in (WARES[::-1], [*WARES[:6], "f"], [*WARES[:6], True], [*WARES[:6], b"g"], tuple(WARES))
    ), [SHOPS, WARES, []]],
}


@pytest.mark.parametrize("name, value", [(name, value) for name, values in FORGED.items() for value in values])
def test_forged_encoders_are_refused(name, value):
    X, y = interacting()
    encoder = SymmetricBoostingRegressor(max_iter=1).fit(X, y).encoder_
    fields = dict(vars(encoder))
    assert rebuild_table_encoder(dict(fields)).pairs.tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="encoder|pair|edges"):
        rebuild_table_encoder(fields | {name: value})


@pytest.mark.parametrize("target", [1, 2**62])
def test_an_encoder_of_targets_that_the_model_lacks_is_refused(target, tmp_path):
    """Else a warm start would look for them."""
    X, y = interacting()
    model = SymmetricBoostingRegressor(max_iter=1).fit(X, y)
    model.encoder_.targets[0] = target
    with pytest.raises(ValueError, match="targets that the model lacks"):
        save_model(model, tmp_path / "model.fct")


@pytest.mark.parametrize(("n", "n_levels"), [(200, 100), (200, 60), (400, 200)])
def test_cells_that_are_pure_by_chance_are_no_pair(n, n_levels):
    """Few cells have two samples, and of two classes these are often alike."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({f"c{j}": [f"k{v}" for v in rng.integers(0, n_levels, n)] for j in range(8)})
        tree = CurvatureTreeClassifier(max_depth=0).fit(X, rng.integers(0, 2, n))
        assert len(tree.encoder_.pairs) == 0


@pytest.mark.parametrize("kind", [CurvatureBoostingClassifier, SymmetricBoostingClassifier])
def test_a_category_tells_many_classes_apart(kind, tmp_path):
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 60, 2000)
    X, y = pd.DataFrame({"part": [f"p{v}" for v in numbers]}), numbers % 20
    model = kind(max_iter=40, random_state=0).fit(X[:1200], y[:1200])
    assert model.score(X[1200:], y[1200:]) > 0.99
    names = model.encoder_.feature_names(model.feature_names_in_, model.classes_)
    assert names[0] == "part (target mean, half 1 of the classes)"
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))
