"""Names of features and classes in text and pictures."""

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureForestClassifier,
    CurvatureTreeClassifier,
    SymmetricBoostingRegressor,
    export_text,
    plot_regions,
    plot_tree,
)
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

X = np.random.default_rng(0).normal(size=(300, 2))


def tree(y):
    return CurvatureTreeClassifier(max_depth=1, leaf_model="constant").fit(X, y)


@pytest.mark.parametrize("y, names", [
    (X[:, 0] < -0.7, {True: "default", False: "pays"}),
    (np.where(X[:, 0] > 0, "up", "down"), {"up": "rises", "down": "falls"}),
    (np.where(X[:, 0] > 0, 7, 3), {7: "rises", 3: "falls", 9: "unseen"}),
])
def test_classes_are_named_by_their_values(y, names):
    pytest.importorskip("matplotlib")
    model = tree(y)
    in_order = [names[label] for label in model.classes_.tolist()]
    text = export_text(model, class_names=names)
    assert text == export_text(model, class_names=in_order) and in_order[0] in text
    drawn = [[t.get_text() for t in plot_tree(model, class_names=given).texts] for given in (names, in_order)]
    assert drawn[0] == drawn[1]
    legend = plot_regions(model, X=X, class_names=names).get_legend()
    assert [t.get_text() for t in legend.get_texts()] == in_order


def test_classes_of_a_bare_tree_are_named_by_their_numbers():
    model = tree(X[:, 0] > 0)
    assert export_text(model.tree_, class_names={1: "b", 0: "a"}) == export_text(model, class_names=["a", "b"])


@pytest.mark.parametrize("draw", [export_text, plot_tree, lambda model, **names: plot_regions(model, X=X, **names)])
def test_what_is_no_list_of_names_is_refused(draw):
    pytest.importorskip("matplotlib")
    model = tree(X[:, 0] > 0)
    for names in ("ab", {"x0": "a", "x1": "b"}, {"a", "b"}):
        with pytest.raises(TypeError, match="feature_names must be a list of names, got a"):
            draw(model, feature_names=names)
    with pytest.raises(TypeError, match="class_names must be a list of names, or a mapping .*, got a str"):
        draw(model, class_names="ab")
    with pytest.raises(ValueError, match="no name for the class .*True"):
        draw(model, class_names={False: "a", "True": "b"})
    for names in (np.array(["a", "b"]), ("a", "b")):
        draw(model, feature_names=names, class_names=names)


def test_names_of_partial_effects_are_a_list():
    pytest.importorskip("matplotlib")
    model = SymmetricBoostingRegressor(max_iter=2).fit(X, X[:, 0])
    with pytest.raises(TypeError, match="feature_names must be a list of names, got a str"):
        plot_regions(model, X=X, feature_names="ab")


def test_line_breaks_in_names_are_escaped():
    pytest.importorskip("matplotlib")
    data, y = load_iris(return_X_y=True)
    model = CurvatureTreeClassifier(max_depth=2).fit(data, np.array(["low\nrisk", "mid", "high\nrisk"])[y])
    ax = plot_tree(model, feature_names=["a", "b", "c", "debt\nratio"], max_coef=None)
    texts = [text.get_text() for text in ax.texts]
    assert not any("\n" in text for text in texts)
    assert "debt\\nratio" in texts and any(text.startswith("low\\nrisk") for text in texts)


def test_columns_of_other_names_are_not_drawn():
    pytest.importorskip("matplotlib")
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = CurvatureTreeClassifier(max_depth=1).fit(frame, X[:, 0] > 0)
    with pytest.raises(ValueError, match="feature names should match"):
        plot_regions(model, X=frame[["b", "a"]])
    with pytest.raises(TypeError, match="dense data is required"):
        plot_regions(model, X=csr_matrix(X))
    some = frame.mask(frame > 1.0)
    for table in (some, some.astype("Float64"), np.ma.masked_greater(X, 1.0)):
        points = np.ma.filled(plot_regions(model, X=table).collections[-1].get_offsets(), np.nan)
        whole = (X <= 1.0).all(axis=1)
        np.testing.assert_array_equal(points[whole], X[whole])
        assert np.isnan(points[~whole]).any(axis=1).all()


@pytest.mark.parametrize("given", [None, ["no", "maybe", "yes"], {0: "no", 1: "maybe", 2: "yes"}])
def test_scores_of_an_ensembles_leaves_are_named_by_class(given):
    X, y = load_iris(return_X_y=True)
    forest = CurvatureForestClassifier(n_estimators=2, step_trees=False, random_state=0)
    names = ["0", "1", "2"] if given is None else ["no", "maybe", "yes"]
    text = export_text(forest.fit(X, y), tree=1, class_names=given)
    assert all(f"score({name}) = " in text for name in names)
    text = export_text(forest.fit(X, y == 1), tree=1, class_names=given and ["other", "this"])
    assert f"score({'this' if given else True}) = " in text and "score(other)" not in text and "y = " not in text
    with pytest.raises(ValueError, match="class_names has 2 names, expected 3"):
        export_text(forest.fit(X, y), tree=0, class_names=["a", "b"])
