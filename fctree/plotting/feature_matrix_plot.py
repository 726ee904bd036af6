"""The metric of the features that a kernel model has learned, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fctree._tables.estimators import column_names, encoded_names
from fctree._validation import check_fitted
from fctree.kernel_ridge.base import BaseTreeNTK
from fctree.plotting.node_colors import require_matplotlib
from fctree.plotting.tree_labels import at_least

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_feature_matrix(model: Any, *, max_features: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the learned metric of a tree kernel model as a heat map.

    Parameters
    ----------
    model : fitted TreeNTK estimator
        With ``feature_learning`` above 0.
    max_features : int, default=20
        Maximum number of features shown: those with the largest diagonal entries, in descending order.
    ax : matplotlib Axes, default=None
        Where to draw; None creates a figure.

    Returns
    -------
    ax : matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If the model is of another kind, or `ax` is no axes.
    NotFittedError
        If the model has not been fitted.
    ValueError
        If the model has learned no metric, or `max_features` is no int of at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree import TreeNTKRegressor
    >>> from fctree.plotting import plot_feature_matrix
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> model = TreeNTKRegressor(alpha=0.1, feature_learning=2).fit(X, np.sin(X[:, 0] + X[:, 1]))
    >>> ax = plot_feature_matrix(model)  # doctest: +SKIP
    """
    require_matplotlib(ax)
    if not isinstance(model, BaseTreeNTK):
        raise TypeError(f"model must be a TreeNTK estimator, got a {type(model).__name__}")
    check_fitted(model)
    matrix = getattr(model, "feature_matrix_", None)
    if matrix is None:
        raise ValueError("the model has learned no metric: feature_matrix_ is None")
    max_features = at_least("max_features", max_features, 1)
    from matplotlib import pyplot

    order = np.argsort(-matrix.diagonal(), kind="stable")[:max_features]
    features = encoded_names(model, column_names(model))
    names = [features[j] for j in order]
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    largest = np.abs(matrix).max()
    image = ax.imshow(matrix[np.ix_(order, order)], cmap="RdBu_r", vmin=-largest, vmax=largest)
    ax.figure.colorbar(image, ax=ax, label="feature_matrix_")
    ax.set_xticks(range(len(order)), names, rotation=90, parse_math=False)
    ax.set_yticks(range(len(order)), names, parse_math=False)
    return ax
