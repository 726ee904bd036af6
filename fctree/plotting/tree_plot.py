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

    A split shows the largest terms of its direction and the threshold; samples that satisfy the inequality go
    left. The numbers are the coefficients, the bars coefficients per standard deviation of the feature. The
    header has the number of samples and, unless all splits are ridge splits, the kind of the direction. In
    symmetric trees ``(missing: false)`` marks splits where missing values go right.

    A leaf shows the mean of y, or the largest class and its fraction, and the number of samples. A ridge leaf
    also shows the largest terms and the intercept of its model: that of `output` in regression, the score of
    the second class with two classes. For more classes use `export_text`.

    Colour is the mean of y, or the class, paler in mixed nodes, with a strip of the class
    fractions. The width of a line shows the share of samples that follow it.

    Parameters
    ----------
    model : fitted CurvatureTree*, FCODT*, ObliqueTree, or ensemble
        The tree to draw, or a forest or boosting model (of symmetric trees too) with `tree`.
    tree : int or None, default=None
        Index of a tree of an ensemble. Its leaves show their contributions to the raw scores, learning rate
        included; in a ridge leaf that is the model, and the number above it a mean in training. Nodes of
        symmetric trees, which keep no numbers of samples, show the unweighted mean of the leaves below.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features; by default those seen in `fit`, else ``x0``, ``x1``, ... Long names are
        truncated, line breaks escaped.
    class_names : array-like of shape (n_classes,) or mapping, default=None
        Names of the classes in the order of ``classes_``, or by class; by default ``classes_``.
    max_coef : int or None, default=3
        Maximum number of coefficients shown per linear function, the largest per standard deviation of the
        feature; None shows all nonzero ones.
    decimals : int, default=2
        Minimum number of digits after the decimal point; thresholds, coefficients and intercepts have as
        many as in `export_text`.
    max_depth : int or None, default=None
        Draw no node below this depth. None draws the whole tree.
    output : int, default=0
        Target whose means and leaf models are shown if there are several.
    cmap : str or matplotlib Colormap, default=None
        Colours of a regression's means, "viridis" by default.
    ax : matplotlib Axes, default=None
        Axes to draw into; the drawing is scaled to fit, with a warning if the text becomes unreadable. None
        creates a figure of the required size, with a warning above 100 leaves.

    Returns
    -------
    ax : matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If `model` is none of these, `tree` does not suit it, or names are not a list.
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
