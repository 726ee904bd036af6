"""One tree of an ensemble, and partial effects of two features."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import fctree
from fctree import export_text, plot_tree
from fctree._scored_trees import drawn_tree
from fctree.plotting import plot_regions
from fctree.plotting.partial_effects import partial_effect_image
from sklearn.exceptions import NotFittedError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 4))
Y = np.abs(X[:, 0] + X[:, 1]) + X[:, 2]
LABELS = np.digitize(Y, [0.0, 1.5])
MODELS = {
    "symmetric": fctree.SymmetricBoostingRegressor(max_iter=6, max_depth=3, random_state=0).fit(X, Y),
    "forest": fctree.CurvatureForestRegressor(n_estimators=3, max_depth=3, random_state=0).fit(X, Y),
    "boosting": fctree.CurvatureBoostingRegressor(max_iter=4, random_state=0).fit(X, Y),
    "classes": fctree.SymmetricBoostingClassifier(max_iter=4, max_depth=3, random_state=0).fit(X, LABELS),
    "classes, oblique": fctree.CurvatureBoostingClassifier(max_iter=3, random_state=0).fit(X, LABELS),
}
TREES = {
    "tree": fctree.CurvatureTreeRegressor().fit(X, Y),
    "tree of classes": fctree.CurvatureTreeClassifier().fit(X, LABELS),
}


@pytest.mark.parametrize("name", MODELS)
def test_drawn_trees_add_what_the_ensemble_adds(name):
    model = MODELS[name]
    for number in range(3):
        before, after = np.zeros((300, model.trees_.n_outputs)), np.zeros((300, model.trees_.n_outputs))
        if name in ("symmetric", "classes"):
            model.trees_[number].add_to(X, after)
        else:
            model.trees_.add_to(X, after, first=number, last=number + 1)
        found = drawn_tree(model, number).predict(X)
        inside = np.abs(found - (after - before)).max(axis=1) < 1e-12
        assert inside.mean() > 0.9  # bounds of leaves act beyond the rows that a tree has drawn
        if name in ("symmetric", "classes"):
            assert inside.all()


@pytest.mark.parametrize("name", MODELS)
def test_trees_of_ensembles_are_written(name):
    model = MODELS[name]
    text = export_text(model, tree=1, decimals=6)
    tree = drawn_tree(model, 1)
    assert re.sub(r"score\((\d)\)", r"y\1", text) == export_text(tree, decimals=6)  # a bare tree knows no classes
    assert text.count("leaf") == tree.n_leaves
    assert ("n=" in text) == (name not in ("symmetric", "classes"))
    with pytest.raises(TypeError, match="tree=0"):
        export_text(model)
    with pytest.raises(ValueError, match="from 0 to"):
        export_text(model, tree=100)


@pytest.mark.parametrize("name", MODELS)
def test_trees_of_ensembles_are_drawn(name):
    ax = plot_tree(MODELS[name], tree=1)
    texts = [text.get_text() for text in ax.texts]
    assert any(text.startswith("x") for text in texts)
    if name in ("symmetric", "classes"):
        assert not any(text.startswith("n =") for text in texts)
    else:
        assert any(text.startswith("n =") for text in texts)


def test_levels_of_symmetric_trees_are_alike():
    tree = drawn_tree(MODELS["symmetric"], 0)
    assert tree.node_count == 15
    assert np.array_equal(tree.threshold[1:2], tree.threshold[2:3])
    assert len(np.unique(tree.coef[3:7], axis=0)) == 1


def test_numbers_of_trees_that_there_are_not():
    with pytest.raises(ValueError, match="tree must be from 0 to 5, got 6"):
        plot_tree(MODELS["symmetric"], tree=6)
    with pytest.raises(TypeError, match="tree must be an integer"):
        plot_tree(MODELS["symmetric"], tree=1.0)
    with pytest.raises(TypeError, match="has one"):
        plot_tree(fctree.CurvatureTreeRegressor().fit(X, Y), tree=0)
    for model in (fctree.SoftTreeRegressor(max_epochs=1), fctree.TreeNTKRegressor()):
        with pytest.raises(NotFittedError):
            plot_tree(model, tree=0)
        with pytest.raises(TypeError, match="none with hard splits"):
            plot_tree(model.fit(X, Y), tree=0)
    with pytest.raises(TypeError, match="tree=0 chooses the first"):
        plot_tree(MODELS["symmetric"])


def score(model, rows, output=0):
    if hasattr(model, "classes_"):
        return model.decision_function(rows)[:, output]
    return model.predict(rows)


@pytest.mark.parametrize("name", [*MODELS, *TREES])
def test_partial_effects_are_means_over_samples(name):
    model = (MODELS | TREES)[name]
    output = 2 if "classes" in name else 0
    ax = plot_regions(model, X=X, features=(0, 2), bounds=[[-1, 1], [-2, 2]], output=output)
    image = ax.get_images()[0].get_array()
    assert image.shape == (64, 64)
    for i, j in ((0, 0), (5, 40), (63, 10)):
        rows = X[::3].copy()
        rows[:, 0] = np.linspace(-1, 1, 64)[i]
        rows[:, 2] = np.linspace(-2, 2, 64)[j]
        assert image[j, i] == pytest.approx(score(model, rows, output).mean(), abs=1e-12)


def test_partial_effects_of_tables():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"city": RNG.choice(list("abcdef"), 300), "age": X[:, 0], "size": X[:, 1]})
    table.loc[::9, "age"] = np.nan
    for model in (fctree.CurvatureBoostingRegressor(max_iter=3, random_state=0),
                  fctree.SymmetricBoostingRegressor(max_iter=3, random_state=0)):
        model.fit(table, Y)
        ax = plot_regions(model, X=table, features=("age", "size"), bounds=[[-1, 1], [0, 1]])
        rows = table.iloc[::3].assign(age=-1.0, size=1.0)
        image = ax.get_images()[0].get_array()
        assert image[63, 0] == pytest.approx(model.predict(rows).mean(), abs=1e-12)
        assert ax.get_xlabel() == "age"
        with pytest.raises(ValueError, match="holds categories"):
            plot_regions(model, X=table, features=("city", "age"))


def test_pictures_reach_as_far_as_samples():
    """Partial effects no further, as a grid ends where samples are; a feature of one value gets a unit."""
    rows = X[:30].copy()
    rows[0, 0], rows[:, 2] = np.nan, 3.0
    ax = plot_regions(MODELS["symmetric"], X=rows, features=(0, 2))
    assert ax.get_xlim() == (rows[1:, 0].min(), rows[1:, 0].max())
    assert ax.get_ylim() == (3.0, 4.0)
    tree = fctree.FCODTRegressor(max_depth=2).fit(X[:, :2], Y)
    low, high = X[:, 1].min(), X[:, 1].max()
    margin = 0.05 * (high - low)
    assert plot_regions(tree, X=X[:, :2]).get_ylim() == pytest.approx((low - margin, high + margin))
    rows[:, 0] = np.nan
    with pytest.raises(ValueError, match="give bounds"):
        plot_regions(MODELS["symmetric"], X=rows, features=(0, 2))


@pytest.mark.parametrize("kind", [fctree.SymmetricBoostingRegressor, fctree.CurvatureBoostingRegressor])
@pytest.mark.parametrize("library", ["pandas", "numpy"])
def test_partial_effects_of_columns_that_are_paired(kind, library):
    """With a category whose effect is a slope of its own, a number is in the pair's feature too."""
    c, effect = RNG.integers(0, 12, 2_000), RNG.normal(size=12)
    x, z = RNG.normal(size=(2, 2_000))
    X = pd.DataFrame({"c": [f"c{i}" for i in c], "x": x, "z": z})
    X = X if library == "pandas" else X.to_numpy(dtype=object)
    model = kind(max_iter=20, random_state=0).fit(X, effect[c] * x * 2.0 + 0.3 * z)
    assert model.encoder_.pairs.tolist() == [[0, 1]]
    image, bounds, _, _ = partial_effect_image(model, X[:50], (1, 2), None, 0)
    grids = [np.linspace(*of_one, 64) for of_one in bounds]
    for first, second in ((0, 3), (30, 60), (63, 20)):
        replaced = pd.DataFrame(X[:50].copy())
        replaced.isetitem(1, grids[0][first])
        replaced.isetitem(2, grids[1][second])
        replaced = replaced if library == "pandas" else replaced.to_numpy(dtype=object)
        np.testing.assert_allclose(image[second, first], model.predict(replaced).mean(), rtol=1e-10)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_partial_effects_of_other_tables(library):
    made = pytest.importorskip(library)
    table = {name: values for name, values in zip("abcd", X.T, strict=True)}
    table = (made.table if library == "pyarrow" else made.DataFrame)(table)
    model = fctree.CurvatureBoostingRegressor(max_iter=3, random_state=0).fit(table, Y)
    images = []
    for rows in (table, X):
        with warnings.catch_warnings():
            warnings.simplefilter("error" if rows is table else "ignore")
            ax = plot_regions(model, X=rows, features=("a", "d"))
        images.append(ax.get_images()[0].get_array())
    np.testing.assert_array_equal(*images)


def test_trees_of_ensembles_take_numbers_as_targets():
    labels = np.where(Y > 1.0, "yes", "no")
    tree = fctree.CurvatureForestClassifier(n_estimators=2).fit(X[:, :2], labels).estimators_[0]
    plot_regions(tree, X=X[:, :2], y=Y > 1.0)
    with pytest.raises(ValueError, match="y has to be numbers.* estimators_ know no classes"):
        plot_regions(tree, X=X[:, :2], y=labels)


def test_what_partial_effects_need():
    model = MODELS["symmetric"]
    with pytest.raises(ValueError, match="has 4 features: choose two"):
        plot_regions(model, X=X)
    with pytest.raises(ValueError, match="need X"):
        plot_regions(model, features=(0, 1))
    with pytest.raises(ValueError, match="two different ones"):
        plot_regions(model, X=X, features=(1, 1))
    with pytest.raises(ValueError, match="which the model does not have"):
        plot_regions(model, X=X, features=("age", 1))
    with pytest.raises(ValueError, match="output must be an int of 0 to 0"):
        plot_regions(model, X=X, features=(0, 1), output=1)
    tree = TREES["tree"]
    with pytest.raises(ValueError, match="this one has 4: features= chooses two"):
        plot_regions(tree, X=X)
    with pytest.raises(ValueError, match="need X"):
        plot_regions(tree, features=(0, 1))
    with pytest.raises(TypeError, match="a tree, a forest or a boosting model"):
        plot_regions(tree.tree_, X=X, features=(0, 1))
    pair = fctree.SymmetricBoostingRegressor(max_iter=2).fit(X[:, :2], Y)
    assert plot_regions(pair, X=X[:, :2]).get_ylabel() == "x1"


@pytest.mark.parametrize("target", [0.0, 1.0])
def test_symmetric_trees_tell_where_missing_values_go(target, tmp_path):
    gaps = X[:, :2].copy()
    gaps[::3, 0] = np.nan
    y = np.where(np.isnan(gaps[:, 0]), target, gaps[:, 0] > 0) + 0.3 * (gaps[:, 1] > 0)
    model = fctree.SymmetricBoostingRegressor(max_iter=1, max_depth=2, learning_rate=1.0, random_state=0).fit(gaps, y)
    fctree.save_model(model, tmp_path / "model")
    for one in (model, fctree.load_model(tmp_path / "model")):
        text = export_text(one, tree=0)
        said = {int(node): branch for node, branch in re.findall(r"node (\d):.*\(missing: (\w+)\)", text)}
        tree = drawn_tree(one, 0)
        inner = np.flatnonzero(tree.children_left >= 0)
        assert set(said) == {node for node in inner if tree.coef[node, 0] != 0} != set(inner)
        node = 0
        while node in inner:
            # A missing x0, and an x1 that is below all thresholds.
            node = (tree.children_right if said.get(node) == "no" else tree.children_left)[node]
        leaf = one.trees_.apply(np.array([[np.nan, -1e9]]))[0, 0]
        assert np.array_equal(tree.value[node, :, 0], one.trees_.leaf_values[0, leaf])
        drawn = "".join(text.get_text() for text in plot_tree(one, tree=0).texts)
        assert sorted(re.findall(r"\(missing: (\w+)\)", drawn)) == sorted(
            {"yes": "true", "no": "false"}[branch] for branch in said.values())


def test_missing_values_alone_on_one_side():
    gaps = X[:, :1].copy()
    gaps[::3] = np.nan
    model = fctree.SymmetricBoostingRegressor(max_iter=1, max_depth=1, random_state=0).fit(gaps, np.isnan(gaps[:, 0]) * 5.0)
    line, yes, no = export_text(model, tree=0).split("\n")
    values = [float(text.split(": ")[-1]) for text in (yes, no)]
    assert values["(missing: no)" in line] == max(values)
