"""An oblique tree as a picture: every split by the bars of its largest coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fctree.plotting.node_box import NodeBox, measure
from fctree.plotting.node_colors import NodeColors, require_matplotlib
from fctree.plotting.tree_labels import TreeLabels, at_least
from fctree.plotting.tree_layout import tidy_layout
from fctree.plotting.tree_painter import TreePainter, prepare_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_tree(
    model: Any,
    *,
    tree: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | Mapping[Any, str] | None = None,
    max_coef: int | None = 3,
    decimals: int = 2,
    max_depth: int | None = None,
    output: int = 0,
    cmap: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a tree, or one of an ensemble, with matplotlib.

    A split shows the terms of its direction that move it most as bars (coefficients per standard
    deviation of the feature, positive to the right, negative to the left; the numbers are the
    coefficients) and the threshold; samples that satisfy the inequality go left. In symmetric trees
    ``(missing: false)`` says that missing values, where training had any, go right.
    Its coloured header has the number of samples and, in a tree with
    other than ridge splits, how the direction was found. A leaf shows the mean of y (or
    the largest class and its fraction), the number of samples and, if it is a ridge leaf,
    the largest terms of its model on one scale for all leaves and the intercept: the model of
    `output` in regression, the score of the second class if there are two; of more classes it says
    that they have linear scores, which `export_text` writes.

    Colour is the mean of y, or the class, paler in mixed nodes, with a strip of the class
    fractions. The width of a line shows the share of samples that take it.

    Parameters
    ----------
    model : fitted CurvatureTree*, FCODT*, ObliqueTree, or ensemble
        The tree to draw, or a forest or boosting model (of symmetric trees too) with `tree`.
    tree : int or None, default=None
        Number of a tree of an ensemble. Its leaves show what it adds to the raw scores,
        learning rate included (a ridge leaf by its model: the number above is a mean in training). A symmetric tree does not know numbers of samples: its nodes have the
        plain mean of the leaves below.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features; by default those seen in `fit`, else
        ``x0``, ``x1``, ... Long names are cut, line breaks escaped.
    class_names : array-like of shape (n_classes,) or mapping, default=None
        Names of the classes in the order of ``classes_``, or by class; by default the estimator's ``classes_``.
    max_coef : int or None, default=3
        Coefficients shown of each linear function, the largest per standard deviation of the
        feature; None shows all that are not zero.
    decimals : int, default=2
        Digits after the decimal point, at least: thresholds, coefficients and intercepts get those that
        `export_text` gives them.
    max_depth : int or None, default=None
        Draw no node below this depth. None draws the whole tree.
    output : int, default=0
        The target whose means and leaf models are shown, if there are several.
    cmap : str or matplotlib Colormap, default=None
        Colours of a regression's means, "viridis" by default.
    ax : matplotlib Axes, default=None
        Where to draw; the drawing is scaled to fit, with a warning if that makes the text
        unreadable. None creates a figure of the size that the tree needs, with a warning above 100
        leaves.

    Returns
    -------
    ax : matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If `model` is none of these, `tree` does not go with it, or names are no list.
    NotFittedError
        If the estimator has not been fitted.
    ValueError
        If names have the wrong length or a number is out of range.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from fctree import FCODTRegressor, plot_tree
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)  # doctest: +SKIP
    >>> ax = plot_tree(FCODTRegressor(max_depth=2).fit(X, y))  # doctest: +SKIP
    >>> ax.figure.savefig("tree.png", dpi=150)  # doctest: +SKIP
    """
    require_matplotlib(ax)
    labels = TreeLabels(
        model,
        feature_names=feature_names,
        class_names=class_names,
        max_coef=max_coef,
        decimals=decimals,
        number=tree,
    )
    labels.escape_names()
    drawn_tree = labels.tree
    at_least("output", output, 0, high=drawn_tree.value.shape[1] - 1)
    at_least("max_depth", max_depth, 0, none_allowed=True)
    left, right = drawn_tree.children_left, drawn_tree.children_right
    if max_depth is not None:
        drawn = drawn_tree.node_depth() < max_depth
        left, right = np.where(drawn, left, -1), np.where(drawn, right, -1)
    boxes = _boxes(labels, left, output)
    center, top, size = tidy_layout(
        left,
        right,
        np.array([box.width for box in boxes]),
        np.array([box.height for box in boxes]),
        gap=10.0,
        level_gap=34.0,
    )
    shown = ~np.isnan(center)
    ax, scale = prepare_axes(ax, size, int(np.count_nonzero(left[shown] < 0)))
    colors = NodeColors(drawn_tree, output=output, cmap=cmap)
    painter = TreePainter(ax, scale, colors.bars)
    bottom = top - np.array([box.height for box in boxes])
    weight = drawn_tree.weighted_n_node_samples
    for node in np.flatnonzero(shown):
        if left[node] >= 0:
            start = (center[node], bottom[node])
            for child in (left[node], right[node]):
                end = (center[child], top[child])
                painter.branch(start, end, weight[child] / weight[0])
        painter.box(boxes[node], center[node], top[node], colors.node(node))
    if left[0] >= 0:
        ends = [(center[child], top[child]) for child in (left[0], right[0])]
        painter.branch_names((center[0], bottom[0]), *ends)
    return ax


def _boxes(labels, left, output):
    """Boxes of all nodes; those with no child in `left` are drawn as ends."""
    tree = labels.tree
    has_scores = tree.n_classes is not None and tree.n_outputs > 1  # too many to draw
    sums = {leaf: labels.leaf_sums(leaf) for leaf in np.flatnonzero(tree.children_left < 0)}
    # One scale for the slopes of all leaves: they are in the units of y and compare.
    leaf_scale = max((np.abs(labels.weight(s[output][1])).max() for s in sums.values() if s), default=0.0)
    n_leaves_below = _leaves_below(tree)
    boxes = []
    for node in range(tree.node_count):
        counted = tree.n_node_samples[node]
        n_samples = f"n = {counted}" if counted else ""
        coef, scale = np.zeros(0), 1.0
        if left[node] >= 0:
            box = NodeBox(n_samples, labels.kind(node), is_split=True)
            box.footer = f"\N{LESS-THAN OR EQUAL TO} {labels.cut(node, ('true', 'false'))}"
            coef, errors = tree.coef[node], labels.split_rounding(node)[1]
            scale = np.abs(labels.weight(coef)).max(initial=0.0)
        else:
            box = NodeBox(_mean(labels, node, output), lines=[n_samples] if counted else [])
            if tree.children_left[node] >= 0:
                box.lines.append(f"{n_leaves_below[node]} leaves below")
            elif has_scores:
                box.footer = "" if labels.is_constant(node) else "linear scores"
            elif sums[node]:
                _, coef, constant, error = sums[node][output]
                scale = leaf_scale
                box.footer = f"intercept {labels.number(constant, error[0])}"
        if tree.n_classes is not None:
            box.fractions = tree.value[node, 0]
        shown, n_more = labels.largest(coef)
        for j in shown:
            text = labels.number(coef[j], errors[j]) if box.is_split else ""
            box.bars.append((labels.feature_names[j], labels.weight(coef)[j] / scale, text))
        box.more = f"+ {n_more} more" if n_more else ""
        boxes.append(box)
    measure(boxes)
    return boxes


def _mean(labels, node, output):
    if labels.class_names is not None:
        return labels.value(node)
    return labels.mean(node, output)


def _leaves_below(tree):
    count = (tree.children_left < 0).astype(np.int64)
    for node in range(tree.node_count - 1, -1, -1):
        left, right = tree.children_left[node], tree.children_right[node]
        if left >= 0:
            count[node] = count[left] + count[right]
    return count
