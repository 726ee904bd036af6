"""Names in pictures: long ones are cut."""

import numpy as np

from fctree import CurvatureTreeRegressor, plot_tree
from fctree.plotting.node_box import NAME_LIMIT, cut, cut_apart, text_width

LONG = "a very long feature name that a bank would use for a column, "


def test_cut_names_fit():
    assert cut("age") == "age"
    for tail in ("", "last 12345"):
        short = cut(LONG + tail, tail)
        assert short.startswith("a very") and short.endswith("…" + tail)
        assert 0.8 * NAME_LIMIT < text_width(short) <= NAME_LIMIT


def test_names_that_begin_alike_keep_their_ends():
    assert cut_apart(["age", LONG]) == ["age", cut(LONG)]
    assert cut_apart([LONG, LONG]) == [cut(LONG)] * 2
    first, second, short = cut_apart([LONG + "1", LONG + "2", "age"])
    assert first != second and short == "age"
    assert (first[-1], second[-1]) == ("1", "2")


def test_bars_of_a_tree_stay_apart():
    X = np.random.default_rng(0).standard_normal((200, 2))
    tree = CurvatureTreeRegressor(max_depth=1).fit(X, X @ [1.0, 2.0])
    ax = plot_tree(tree, feature_names=[LONG + "1", LONG + "2"])
    names = [text.get_text() for text in ax.texts if "…" in text.get_text()]
    assert len(names) >= 2 and {name[-1] for name in names} == {"1", "2"}
