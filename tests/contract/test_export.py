"""Text and pictures of trees."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    FCODTClassifier,
    FCODTRegressor,
    SymmetricBoostingRegressor,
    SoftTreeRegressor,
    export_text,
    plot_regions,
    plot_tree,
)
from reference.tree_comparison import smooth_table
from sklearn.exceptions import NotFittedError


@pytest.fixture
def frame():
    X, y = smooth_table(120, 3, seed=70)
    return pd.DataFrame(X, columns=["height", "width", "depth"]), y


def models(frame):
    X, y = frame
    classes = np.array(["ash", "birch", "cedar"])[np.searchsorted(np.quantile(y, [0.3, 0.6]), y)]
    return [
        FCODTRegressor(max_depth=2).fit(X, y),
        FCODTRegressor(max_depth=2, leaf_model="constant").fit(X, y),
        FCODTRegressor(max_depth=1).fit(X, np.column_stack([y, -y])),
        FCODTClassifier(max_depth=2).fit(X, classes),
        FCODTClassifier(max_depth=2, leaf_model="constant").fit(X, classes == "ash"),
        FCODTRegressor(max_depth=0).fit(X, y),
    ]


def test_text_names_every_node_once(frame):
    for model in models(frame):
        text = export_text(model)
        nodes = re.findall(r"(?:node|leaf) (\d+)", text)
        assert sorted(map(int, nodes)) == list(range(model.tree_.node_count))
        assert len(re.findall(r"\bleaf\b", text)) >= model.get_n_leaves()
        assert not text.endswith("\n")


def test_text_shows_features_thresholds_and_classes(frame):
    X, y = frame
    model = FCODTRegressor(max_depth=1).fit(X, y)
    text = export_text(model, decimals=4)
    assert all(name in text for name in X.columns)
    assert f"{model.tree_.threshold[0]:.4f}" in text
    assert f"n={len(y)}" in text
    classifier = FCODTClassifier(max_depth=1).fit(X, np.where(y > np.median(y), "tall", "short"))
    assert "tall" in export_text(classifier) and "short" in export_text(classifier)
    assert "yes_class" in export_text(classifier, class_names=["no_class", "yes_class"])


def test_text_from_the_tree_alone_and_with_other_names(frame):
    model = models(frame)[0]
    assert "x0" in export_text(model.tree_)
    assert "apple" in export_text(model, feature_names=["apple", "pear", "plum"])
    assert "height" not in export_text(model, feature_names=["apple", "pear", "plum"])


def test_text_can_be_cut_to_the_largest_terms(frame):
    X, y = frame
    model = FCODTRegressor(max_depth=1).fit(X, y)
    first = export_text(model, max_coef=1).splitlines()[0]
    assert sum(name in first for name in X.columns) == 1
    sizes = np.abs(model.tree_.coef[0]) * X.to_numpy().std(axis=0)
    assert X.columns[sizes.argmax()] in first


def test_units_do_not_choose_the_terms(frame):
    X, y = frame
    X = X.copy()
    for name in X.columns:
        first = []
        for unit in (1e-6, 1.0, 1e6):
            scaled = X.assign(**{name: unit * X[name]})
            model = FCODTRegressor(max_depth=1, alpha=0).fit(scaled, y)
            line = export_text(model, max_coef=1).splitlines()[0]
            first.append([column for column in X.columns if column in line])
        assert first[0] == first[1] == first[2]


def test_a_tree_in_a_notebook(frame):
    tree = models(frame)[0].tree_
    assert len(repr(tree)) < 200
    html = tree._repr_html_()
    assert html.startswith("<pre>ObliqueTree(") and "&lt;" in html


@pytest.mark.parametrize(
    "model", [CurvatureForestRegressor(n_estimators=30), CurvatureBoostingRegressor(max_iter=30),
              SymmetricBoostingRegressor(max_iter=30)])
def test_trees_of_an_ensemble_print_in_one_line(frame, model):
    X, y = frame
    text = repr(model.fit(X, y).trees_)
    assert "n_trees=30" in text and len(text) < 200


def test_text_of_a_bare_root(frame):
    X, y = frame
    text = export_text(FCODTRegressor(max_depth=0, leaf_model="constant").fit(X, y), decimals=3)
    assert f"{y.mean():.3f}" in text


@pytest.mark.parametrize("draw", [export_text, plot_tree])
def test_errors_name_the_cause(frame, draw):
    if draw is plot_tree:
        pytest.importorskip("matplotlib")
    with pytest.raises(NotFittedError):
        draw(FCODTRegressor())
    with pytest.raises(TypeError):
        draw("a tree")
    model = models(frame)[0]
    with pytest.raises(ValueError, match="feature_names"):
        draw(model, feature_names=["one", "two"])
    with pytest.raises(ValueError, match="max_coef"):
        draw(model, max_coef=0)
    forest = CurvatureForestRegressor(n_estimators=2).fit(*frame)
    with pytest.raises(TypeError, match="tree=0 chooses the first of them, and .estimators_ has them all"):
        draw(forest)


@pytest.mark.parametrize("draw", [export_text, plot_tree, plot_regions])
def test_estimators_without_a_tree_are_refused_in_words_of_all(frame, draw):
    pytest.importorskip("matplotlib")
    model = SoftTreeRegressor(max_epochs=1).fit(*frame)
    with pytest.raises(TypeError, match="got a SoftTreeRegressor. It may be an ensemble, too, .*; plot_tree and export_text then need"):
        draw(model)


def test_pictures_of_every_kind_of_tree(frame, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for number, model in enumerate(models(frame)):
        axes = plot_tree(model)
        axes.figure.savefig(tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.png").stat().st_size > 1000
        pyplot.close(axes.figure)


def test_a_picture_goes_where_it_is_told(frame):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, axes = pyplot.subplots()
    assert plot_tree(models(frame)[0], ax=axes) is axes
    figure.canvas.draw()
    texts = " ".join(text.get_text() for text in axes.texts)
    assert "height" in texts or "width" in texts or "depth" in texts
    pyplot.close(figure)


def test_leaves_show_the_intercepts_of_their_models(frame):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = frame
    tree = FCODTRegressor(max_depth=1).fit(X, y).tree_
    axes = plot_tree(tree, decimals=4)
    shown = [text.get_text() for text in axes.texts if text.get_text().startswith("intercept ")]
    assert sorted(shown) == sorted(f"intercept {value:.4f}" for value in tree.leaf_intercept[:, 0])
    pyplot.close(axes.figure)


def test_axes_that_are_too_small_to_read_are_said_to_be(frame):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    model = models(frame)[0]
    figure, axes = pyplot.subplots(figsize=(1, 1))
    with pytest.warns(UserWarning, match="too small to read the tree: text has"):
        plot_tree(model, ax=axes)
    pyplot.close(figure)


def test_pictures_of_many_leaves_warn(frame, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr("fctree.plotting.tree_painter._MANY_LEAVES", 3)
    model = models(frame)[0]
    with pytest.warns(UserWarning, match="4 leaves takes .* inches; max_depth draws less"):
        plot_tree(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_tree(model, max_depth=1)
    pyplot.close("all")


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("leaf_model", ["ridge", "constant"])
def test_regions_of_the_plane(leaf_model, classes, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = smooth_table(150, 2, seed=71)
    y = y > np.median(y) if classes else y
    kind = FCODTClassifier if classes else FCODTRegressor
    model = kind(max_depth=3, leaf_model=leaf_model).fit(X, y)
    axes = plot_regions(model, X=X, y=y)
    axes.figure.savefig(tmp_path / "regions.png")
    assert (tmp_path / "regions.png").stat().st_size > 1000
    pyplot.close(axes.figure)


@pytest.mark.parametrize("n_classes, n_columns", [(10, 1), (30, 2), (50, None)])
def test_regions_of_many_classes(n_classes, n_columns):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X = np.random.default_rng(73).normal(size=(500, 2))
    y = np.array([f"${number}^{{$ {'long name ' * 9}" for number in range(n_classes)])
    model = FCODTClassifier(max_depth=3).fit(X, np.resize(y, 500))
    axes = plot_regions(model, X=X, y=np.resize(y, 500))
    axes.figure.canvas.draw()
    assert axes.get_window_extent().width > 0.2 * axes.figure.bbox.width
    legend = axes.get_legend()
    assert (legend and legend._ncols) == n_columns
    points = axes.collections[-1].get_facecolors()
    assert len(np.unique(points, axis=0)) == n_classes
    pyplot.close(axes.figure)


def test_samples_with_missing_values_are_not_drawn():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = smooth_table(60, 2, seed=72)
    model = FCODTRegressor(max_depth=2).fit(X, y)
    gaps = np.vstack([X, [np.nan, 50.0]])
    assert plot_regions(model, X=gaps).get_xlim() == plot_regions(model, X=X).get_xlim()
    with pytest.raises(ValueError, match="without missing values"):
        plot_regions(model, X=gaps[-1:])
    pyplot.close("all")


def test_regions_of_what_is_no_oblique_tree():
    pytest.importorskip("matplotlib")
    X, y = smooth_table(60, 2, seed=72)
    with pytest.raises(TypeError, match="got a SoftTreeRegressor"):
        plot_regions(SoftTreeRegressor(max_epochs=1).fit(X, y), X=X, features=[0, 1])


@pytest.mark.parametrize("column, message", [
    (list("uvwx") * 15, "feature 'c' holds categories, not numbers"),
    ([1.0, 2.0, np.nan] * 20, "feature 'c' had missing values in fit"),
])
def test_regions_of_encoded_columns(column, message):
    pytest.importorskip("matplotlib")
    X, y = smooth_table(60, 1, seed=72)
    table = pd.DataFrame({"a": X[:, 0], "c": column})
    with pytest.raises(ValueError, match=message):
        plot_regions(FCODTRegressor(max_depth=1).fit(table, y), X=table)


def test_regions_need_two_features(frame):
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="2 features"):
        plot_regions(models(frame)[0], bounds=[[-1, 1], [-1, 1]])
