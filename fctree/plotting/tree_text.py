"""An oblique tree as text: every split by its largest coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fctree.plotting.category_values import category_lines
from fctree.plotting.tree_labels import TreeLabels, at_least


def export_text(
    model: Any,
    *,
    tree: int | None = None,
    feature_names: Sequence[str] | None = None,
    decimals: int = 3,
    max_coef: int | None = 5,
    max_depth: int | None = None,
    class_names: Sequence[str] | Mapping[Any, str] | None = None,
) -> str:
    """Write a tree, or one of an ensemble, as indented text.

    A split shows the largest terms of its direction and the threshold; the branch marked ``yes`` has the
    samples that satisfy the inequality. A leaf shows the mean of y or the class fractions of its training
    samples. A ridge leaf also shows its linear model, for classifiers that of `decision_function`. Unless
    all splits are ridge splits, each shows the kind of its direction. Soft boundaries show their widths;
    splits of symmetric trees show the branch of missing values, ``(missing: no)``, if training had any.
    Below the tree, the target statistics used in it are listed with their value for each category, missing
    values and other values; numbers with the one that takes the place of missing values, if training had any;
    and indicators with their value for categories that training did not have.

    Coefficients refer to the features passed to `fit`, so their sizes are comparable only if the features
    have the same scale.

    Parameters
    ----------
    model : fitted CurvatureTree*, FCODT*, ObliqueTree, or ensemble
        The tree to write, or a forest or boosting model (of symmetric trees too) with `tree`.
    tree : int or None, default=None
        Index of a tree of an ensemble. Its leaves show their contributions to the raw scores, learning rate
        included; in a ridge leaf that is the model, and the number above it a mean in training. Nodes of
        symmetric trees, which keep no numbers of samples, show the unweighted mean of the leaves below.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features; by default those seen in `fit`, else
        ``x0``, ``x1``, ... Line breaks in names are escaped.
    decimals : int, default=3
        Minimum number of digits after the decimal point. Thresholds, coefficients and constants get further
        digits until rounding a typical term changes its sum by at most ``10**-decimals`` standard
        deviations (of the sum in a split, of y in a leaf; for scores by that amount), so that with
        ``max_coef=None`` the text predicts as the tree does. If the standard deviations of the features are
        unknown, as in ensembles, each number is accurate to that share of its own size. Numbers too small
        for `decimals` digits, or above a million, are written with significant digits.
    max_coef : int or None, default=5
        Maximum number of terms shown per linear function, the largest by coefficient times standard
        deviation of the feature (by coefficient if that is unknown); None shows all nonzero ones. If there are
        more than twice as many categories, only those with the lowest and highest values are listed.
    max_depth : int or None, default=None
        Write no node below this depth; a node at this depth is shown as a leaf, with the number of nodes
        below it. None writes the whole tree.
    class_names : array-like of shape (n_classes,) or mapping, default=None
        Names of the classes in the order of ``classes_``, or by class; by default ``classes_``.

    Returns
    -------
    text : str
        One line per node, one for each linear model of a leaf and one for each feature listed below the tree;
        no trailing line break.

    Raises
    ------
    TypeError
        If `model` is neither an estimator with an oblique tree, nor such a tree, nor an ensemble with
        `tree`, or if names are not a list.
    NotFittedError
        If the estimator has not been fitted.
    ValueError
        If names have the wrong length or a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree import FCODTRegressor, export_text
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.repeat([0.0, 1.0], 4)
    >>> tree = FCODTRegressor(alpha=0.0, max_depth=1, leaf_model="constant").fit(X, y)
    >>> print(export_text(tree, feature_names=["age"], decimals=2))
    node 0: 0.19*age <= 0.667  [n=8, impurity=0.25]
    |-- yes: leaf 1: 0.00  [n=4, impurity=0.00]
    |-- no:  leaf 2: 1.00  [n=4, impurity=0.00]
    """
    labels = TreeLabels(
        model,
        number=tree,
        feature_names=feature_names,
        class_names=class_names,
        max_coef=max_coef,
        decimals=decimals,
    )
    labels.escape_names()
    at_least("max_depth", max_depth, 0, none_allowed=True)
    left, right, depth = labels.tree.children_left, labels.tree.children_right, labels.tree.node_depth()
    lines = []
    # Nodes to write, the next one last: (node, indentation, name of the branch).
    pending = [(0, "", "")]
    while pending:
        node, indent, branch = pending.pop()
        below = indent + "|   " if branch else indent
        ends = left[node] < 0 or depth[node] == max_depth
        lines.append(f"{indent}{branch}{_node_line(labels, node, ends)}")
        if left[node] >= 0 and ends:
            lines.append(f"{below}     ... ({_count_below(left, right, node)} nodes below)")
        elif ends:
            lines.extend(f"{below}     {text}" for text in labels.leaf_models(node))
        else:
            pending.append((right[node], below, "|-- no:  "))
            pending.append((left[node], below, "|-- yes: "))
    encoder = getattr(model, "encoder_", None)
    return "\n".join(lines if encoder is None else lines + category_lines(labels, encoder))


def _count_below(left, right, node):
    """Number of nodes below a node."""
    found, level = 0, np.array([node])
    while level.size:
        level = level[left[level] >= 0]
        level = np.concatenate([left[level], right[level]])
        found += level.size
    return found


def _node_line(labels, node, ends):
    tree = labels.tree
    about = []
    if tree.n_node_samples[node] > 0:  # symmetric trees do not know them
        about += [f"n={tree.n_node_samples[node]}", f"impurity={labels.number(tree.impurity[node])}"]
    if ends:
        kind = "leaf" if tree.children_left[node] < 0 else "node"
        text = f"{kind} {node}: {labels.value(node)}"
        if tree.n_classes is not None:
            about.append(f"fractions={labels.fractions(node)}")
    else:
        text = f"node {node}: {labels.direction(node)} <= {labels.cut(node, ('yes', 'no'))}"
        if labels.kind(node):
            about.append(labels.kind(node))
    return f"{text}  [{', '.join(about)}]" if about else text
