"""Attributions against their definitions, and the scores that they sum to."""

import numpy as np
import pytest
from reference.literal_attributions import (
    coalitions,
    interventional_values,
    line_values,
    path_dependent_values,
    shapley_of_game,
)

import fctree
from fctree._scored_trees import ScoredTrees
from fctree.inspection import shap_values

D = 10
RNG = np.random.default_rng(3)
X = RNG.normal(size=(400, D))
Y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.maximum(X[:, 3:6].sum(axis=1), 0.0)
LABELS = np.digitize(Y, [-0.5, 1.0])
SAMPLES, BACKGROUND = X[:2], X[100:106]

MODELS = {
    "symmetric": fctree.SymmetricBoostingRegressor(max_iter=10, random_state=0),
    "symmetric, deep": fctree.SymmetricBoostingRegressor(max_iter=3, max_depth=9, random_state=0),
    "tree": fctree.CurvatureTreeRegressor(max_depth=4),
    "sparse tree": fctree.CurvatureTreeRegressor(max_depth=4, max_coef=2),
    "constant leaves": fctree.FCODTRegressor(max_depth=3, leaf_model="constant"),
    "forest": fctree.CurvatureForestRegressor(n_estimators=5, random_state=0),
    "boosting": fctree.CurvatureBoostingRegressor(max_iter=10, random_state=0),
    "sparse boosting": fctree.CurvatureBoostingRegressor(
        max_iter=10, max_coef=2, extrapolation=0.2, random_state=0
    ),
    "no bounds": fctree.CurvatureBoostingRegressor(
        max_iter=10, max_coef=2, extrapolation=None, random_state=0
    ),
}
CLASSIFIERS = {
    "symmetric": fctree.SymmetricBoostingClassifier(max_iter=5, random_state=0),
    "tree": fctree.CurvatureTreeClassifier(max_depth=3),
    "forest": fctree.CurvatureForestClassifier(n_estimators=3, random_state=0),
    "boosting": fctree.CurvatureBoostingClassifier(max_iter=5, random_state=0),
}


def methods_of(model):
    symmetric = isinstance(model, fctree.SymmetricBoostingRegressor)
    return ["interventional", "path_dependent" if symmetric else "aumann_shapley"]


@pytest.mark.parametrize("name", MODELS)
def test_interventional_values_are_those_of_all_coalitions(name):
    model = MODELS[name].fit(X, Y)
    found = shap_values(model, SAMPLES, BACKGROUND, method="interventional")
    expected = interventional_values(model.predict, SAMPLES, BACKGROUND)
    assert np.abs(found.values - expected).max() < 1e-12


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_are_explained_on_the_scale_of_their_decisions(name, n_classes):
    labels = np.minimum(LABELS, n_classes - 1)
    model = CLASSIFIERS[name].fit(X[:, :6], labels)
    samples, background = SAMPLES[:, :6], BACKGROUND[:, :6]
    found = shap_values(model, samples, background, method="interventional")
    calibrated = hasattr(model, "exponent_") and n_classes > 2  # which is no sum over trees
    expected = interventional_values(model._raw_predict if calibrated else model.decision_function, samples, background)
    assert found.values.shape == expected.shape
    assert np.abs(found.values - expected).max() < 1e-12
    assert found.output_names == {None: None, 2: ["1"], 3: ["0", "1", "2"]}[n_classes]


@pytest.mark.parametrize("name", MODELS)
def test_values_sum_to_the_predictions(name):
    model = MODELS[name].fit(X, Y)
    for method in methods_of(model):
        found = shap_values(model, X[:50], BACKGROUND, method=method)
        assert found.method == method
        assert found.base_values == pytest.approx(model.predict(BACKGROUND).mean(), abs=1e-12)
        sums = found.base_values + found.values.sum(axis=1)
        assert np.abs(sums - model.predict(X[:50])).max() < 1e-10


def test_values_of_log_links_are_logarithms():
    model = fctree.SymmetricBoostingRegressor(loss="poisson", max_iter=20, random_state=0)
    model.fit(X, np.round(np.exp(Y / 2)))
    found = shap_values(model, SAMPLES, X)
    sums = found.base_values + found.values.sum(axis=1)
    assert np.abs(np.exp(sums) - model.predict(SAMPLES)).max() < 1e-10


def test_path_dependent_values_follow_the_definition():
    Z = X[:, :5].copy()
    Z[::7, 0] = np.nan
    model = fctree.SymmetricBoostingRegressor(max_iter=4, max_depth=5, random_state=0).fit(Z, Y)
    found = shap_values(model, Z[:8], Z[:60], method="path_dependent")
    expected = path_dependent_values(model.trees_, Z[:8], Z[:60])[:, :, 0]
    assert np.abs(found.values - expected).max() < 1e-12


@pytest.mark.parametrize("name", ["tree", "sparse tree", "constant leaves"])
def test_path_attributions_follow_the_line(name):
    model = MODELS[name].fit(X, Y)
    found = shap_values(model, X[:20], BACKGROUND, method="aumann_shapley")
    expected = [
        np.mean([line_values(model.tree_, x, b)[:, 0] for b in BACKGROUND], axis=0) for x in X[:20]
    ]
    assert np.abs(found.values - expected).max() < 1e-11  # of sums in another order


def test_bounded_leaves_are_followed_along_the_line():
    """Against a sum of small steps, each of which moves one linear piece."""
    model = fctree.CurvatureBoostingRegressor(
        max_iter=5, step_depth=None, subsample=1.0, random_state=0
    ).fit(X[:, :2], Y)
    x, b = X[:1, :2], X[1:2, :2]
    found = shap_values(model, x, b, method="aumann_shapley").values[0]
    linear = 0.0
    for tree in range(model.n_iter_):
        one = model.trees_.first(tree + 1)
        leaf_of = one[tree].apply
        t = (np.arange(200_000) + 0.5) / 200_000
        line = b + t[:, np.newaxis] * (x - b)
        rows = one.leaf_offsets[tree] + one[tree].leaf_index[leaf_of(line)]
        score = np.einsum("ij,ij->i", one.leaf_coef[rows, 0], line) + one.leaf_intercept[rows, 0]
        inside = (score > one.leaf_lower[rows, 0]) & (score < one.leaf_upper[rows, 0])
        linear = linear + (one.leaf_coef[rows, 0] * inside[:, np.newaxis]).mean(axis=0) * (x - b)[0]
    jumps = found - linear  # in proportion to the terms of the crossed splits
    total = model.predict(x)[0] - model.predict(b)[0]
    assert jumps.sum() == pytest.approx(total - linear.sum(), abs=1e-4)  # of the step length
    assert found.sum() == pytest.approx(total, abs=1e-12)


def test_columns_of_a_table_are_the_players():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({
        "city": rng.choice(list("abcdefgh"), 300),
        "size": rng.choice(["s", "m", "l"], 300),
        "age": np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300)),
    })  # fmt: skip
    y = (table["city"] < "d") * 2.0 + (table["size"] == "m") + table["age"].fillna(3.0)

    for model in (
        fctree.SymmetricBoostingRegressor(max_iter=10, random_state=0),
        fctree.CurvatureBoostingRegressor(max_iter=10, random_state=0),
    ):
        model.fit(table, y)
        samples, background = table.iloc[:3], table.iloc[50:55]

        def score(values):
            frame = pd.DataFrame(values, columns=table.columns)
            return model.predict(frame.astype({"age": float}))

        found = shap_values(model, samples, background, method="interventional")
        expected = interventional_values(
            score, samples.to_numpy(dtype=object), background.to_numpy(dtype=object)
        )
        assert found.feature_names == ["city", "size", "age"]
        assert np.abs(found.values - expected).max() < 1e-12
        assert found.data[0, 0] == table["city"][0]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", [
    fctree.SymmetricBoostingClassifier(max_iter=10, random_state=0),
    fctree.CurvatureTreeClassifier(max_depth=2),
    fctree.CurvatureForestClassifier(n_estimators=2, random_state=0),
    fctree.CurvatureBoostingClassifier(max_iter=3, random_state=0),
], ids=lambda model: type(model).__name__)  # fmt: skip
def test_a_pair_is_a_player_whose_value_both_columns_share(model, n_classes):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    place, x = rng.integers(0, 12, 600), rng.normal(size=600)
    table = pd.DataFrame({"place": [f"p{v}" for v in place], "x": x})
    model.fit(table, np.digitize(np.where(place % 2, 2.0, -2.0) * x, [0.0, 1.0][: n_classes - 1]))
    names = model.encoder_.feature_names(["place", "x"])
    player = np.array([2 if " x x" in name else int(name == "x") for name in names])
    assert set(player) == {0, 1, 2}
    scored = ScoredTrees.of(model)

    def score(features):
        sums = np.zeros((len(features), scored.trees.n_outputs))
        scored.trees.add_to(features, sums)
        return scored.offset + scored.factor * sums

    known = scored.features(table[100:105])
    expected = np.array([
        shapley_of_game(np.array([
            score(np.where(member[player], sample, known)).mean(axis=0) for member in coalitions(3)
        ]))
        for sample in scored.features(table[:2])
    ])  # fmt: skip
    expected = expected[:, :2] + expected[:, 2:] / 2
    found = shap_values(model, table[:2], table[100:105], method="interventional").values
    assert np.abs(found.reshape(expected.shape) - expected).max() < 1e-12


@pytest.mark.filterwarnings("ignore:early stopping kept no round")
@pytest.mark.parametrize("kind", [fctree.CurvatureBoostingRegressor, fctree.SymmetricBoostingRegressor])
def test_a_model_without_rounds_has_attributions_of_zero(kind):
    rng = np.random.default_rng(0)
    X, y, held = rng.normal(size=(60, 3)), rng.normal(size=60), rng.normal(size=(20, 3))
    model = kind(max_iter=10, learning_rate=1.0, early_stopping=True, n_iter_no_change=2, random_state=0)
    model.fit(X, y, eval_set=(X, 2.0 * y.mean() - y))  # the opposite
    assert model.n_iter_ == 0
    found = shap_values(model, held, X)
    np.testing.assert_array_equal(found.values, np.zeros((20, 3)))
    np.testing.assert_array_equal(np.ravel(found.base_values), model.baseline_)
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(3))
    assert model.feature_importances_.dtype == np.float64
    with pytest.raises(ValueError, match="the model has no trees, got 0"):
        fctree.export_text(model, tree=0)
