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
    plt.close("all")
    assert "city (target mean)" in words or "age" in words
