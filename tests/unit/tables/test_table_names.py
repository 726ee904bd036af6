"""Trees speak of columns and categories as the user knows them."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from fctree import CurvatureTreeClassifier, CurvatureTreeRegressor, export_text, plot_tree
from table_cases import as_objects, as_pandas, mixed_columns

COLUMNS, Y = mixed_columns()
FRAME = as_pandas(COLUMNS)


def test_text_names_categories_and_statistics():
    tree = CurvatureTreeRegressor(max_depth=1).fit(FRAME, Y)
    text = export_text(tree, max_coef=None)
    for name in ("city (target mean)", "size (mean effect)", "age is missing", "member"):
        assert name in text
    assert tree.encoder_.feature_names(tree.feature_names_in_) == [
        "age",
        "age is missing",
        "city (target mean)",
        "city (mean effect)",
        "size (target mean)",
        "size (mean effect)",
        "member",
    ]


def test_of_many_categories_the_ends_are_shown():
    rng = np.random.default_rng(0)
    shop = rng.integers(0, 30, 900)
    X = np.array([f"shop {number}" for number in shop], dtype=object)[:, np.newaxis]
    text = export_text(CurvatureTreeRegressor(max_depth=0).fit(X, shop + rng.standard_normal(900)), max_coef=2)
    line = text.split("\n")[-1]
    assert line.startswith("x0 (target mean): shop 0 0.") and line.count("shop") == 4
    assert "... (26 more)" in line and ", other 1." in line


def test_names_can_be_given_and_are_numbers_without():
    tree = CurvatureTreeRegressor(max_depth=0).fit(as_objects(COLUMNS), Y)
    assert "x1 (target mean)" in export_text(tree, max_coef=None)
    text = export_text(tree, max_coef=None, feature_names=["a", "b", "c", "d"])
    assert "b (target mean)" in text and "x1" not in text
    with pytest.raises(ValueError, match="feature_names"):
        export_text(tree, feature_names=["a", "b"])


def test_statistics_of_classes_name_the_class():
    labels = np.array(["low", "middle", "high"])[np.digitize(Y, np.quantile(Y, [0.3, 0.7]))]
    tree = CurvatureTreeClassifier(max_depth=0).fit(FRAME, labels)
    text = export_text(tree, max_coef=None)
    assert "city (target mean, high)" in text or "city (target mean, low)" in text


def test_pictures_name_them_too():
    tree = CurvatureTreeRegressor(max_depth=1).fit(FRAME, Y)
    plot_tree(tree)
    words = " ".join(text.get_text() for text in plt.gcf().findobj(plt.Text))
    assert "city (target mean)" in words or "age" in words
