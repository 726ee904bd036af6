"""The plane as a tree over two features divides it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from fctree._tables.estimators import column_names
from fctree._tables.frames import plain_rows
from fctree._typing import ArrayLike
from fctree.plotting.leaf_polygons import class_polygons, leaf_polygons
from fctree.plotting.node_box import cut
from fctree.plotting.node_colors import CLASS_COLORS, NodeColors, plain_legend, require_matplotlib
from fctree.plotting.partial_effects import checked_bounds, partial_effect_image, points_of, refuse_categories
from fctree.plotting.tree_labels import TreeLabels, at_least, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EDGE = "#ffffff"
# Samples on each side of a leaf's picture. Linear functions are interpolated exactly;
# more than 2 keeps the rounding of the picture's rim off the polygon.
_GRID = 64
# Rows of a legend beside the axes, and its columns: more hide the regions.
_LEGEND_SHAPE = 20, 2


def plot_regions(
    tree: Any,
    *,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    bounds: ArrayLike | None = None,
    features: Sequence[int | str] | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | Mapping[Any, str] | None = None,
    output: int = 0,
    cmap: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the regions of a tree over two features, coloured by its predictions.

    The borders are exact: each leaf is a polygon bounded by the splits above it. Constant leaves have
    one colour. In ridge leaves of a regression the colour follows the linear model; those of a
    classification are divided along the lines where two classes have the same score. With more than
    10 classes the legend is beside the axes, with more than 40 there is none.

    For a forest, a boosting model (symmetric trees included) or a tree of more features the partial
    dependence on two `features` is drawn: the mean score over samples in which these two are replaced,
    on a grid. Scores are predictions, or their logarithms for losses with a log link; for classifiers
    those of `decision_function`, of forests of three and more classes the mean class indicators.

    Parameters
    ----------
    tree : fitted CurvatureTree* or FCODT*, ObliqueTree, or ensemble
        A tree, or a forest or a boosting model.
    X : array-like of shape (n_samples, 2), default=None
        Samples to draw as points, except those with missing values. Required for partial dependence, with
        shape (n_samples, n_features): the other features take the values of at most 100 of them.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Targets of `X`, which colour the points on the scale of the regions; for a classifier class labels
        as passed to `fit`.
    bounds : array-like of shape (2, 2), default=None
        Rows (low, high) of the two features; by default the range of `X`, for the regions of
        one tree widened by 5 % on each side.
    features : sequence of two names or indices, default=None
        Features whose partial dependence is drawn; by default the regions of a tree over two features, and
        the partial dependence of an ensemble on its two.
    feature_names : array-like of shape (2,), default=None
        Labels of the axes; by default the names seen in `fit`, else ``x0`` and ``x1``.
    class_names : array-like of shape (n_classes,) or mapping, default=None
        Names of the classes in the legend, in the order of ``classes_`` or by class; by default
        ``classes_``.
    output : int, default=0
        Target to draw if there are several.
    cmap : str or matplotlib Colormap, default=None
        Colours of a regression's predictions, "viridis" by default.
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
        If `tree` is none of these, or names are not a list.
    NotFittedError
        If the estimator has not been fitted.
    ValueError
        Without `features`, if the tree does not have two features, has categories or missing values among
        them, or if neither `X` nor `bounds` is given; if the tree has soft boundaries; or if an array has
        the wrong shape.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree import FCODTRegressor
    >>> from fctree.plotting import plot_regions
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    >>> y = np.maximum(X[:, 0] + X[:, 1], 0.0)
    >>> tree = FCODTRegressor(max_depth=2).fit(X, y)
    >>> ax = plot_regions(tree, X=X, y=y)  # doctest: +SKIP
    """
    matplotlib = require_matplotlib(ax)
    if hasattr(tree, "trees_") or features is not None:
        if X is None:
            raise ValueError("plot_regions shows partial effects here, which need X=, such as the training samples")
        if y is not None or class_names is not None:
            raise ValueError("plot_regions shows partial effects here, which take no y or class_names")
        effect = partial_effect_image(tree, X, features, bounds, output)
        return _draw_effect(effect, feature_names, cmap, ax)
    labels = TreeLabels(
        tree,
        feature_names=feature_names,
        class_names=class_names,
        max_coef=None,
        decimals=2,
    )
    _refuse_encoded(tree)
    classes = getattr(tree, "classes_", None)
    model, tree = tree, labels.tree
    if tree.n_features != 2:
        raise ValueError(
            f"regions of the plane need a tree over 2 features, this one has {tree.n_features}: features= chooses two "
            "whose partial effect is drawn instead"
        )
    if tree.boundary_width is not None:
        raise ValueError("a tree with soft boundaries has no regions: leaf models blend everywhere")
    at_least("output", output, 0, high=tree.value.shape[1] - 1)
    X = None if X is None else _points(model, X, labels.feature_names)
    shown = _shown(tree, X, y, classes, output)
    drawn = np.zeros((0, 2)) if X is None else X[np.isfinite(X).all(axis=1)]
    bounds = checked_bounds(bounds, drawn, margin=0.05)
    polygons = leaf_polygons(tree, bounds)
    ax = _new_axes() if ax is None else ax
    if tree.n_classes is None:
        low, high = _range(tree, polygons, shown, output)
        colors = NodeColors(tree, output=output, cmap=cmap, low=low, high=high)
        _fill_regression(ax, tree, polygons, colors)
        scale = matplotlib.cm.ScalarMappable(colors.norm, colors.cmap)
        ax.figure.colorbar(scale, ax=ax, label="prediction")
    else:
        _fill_classes(ax, tree, polygons, NodeColors(tree), labels.class_names)
    _outline(ax, polygons)
    if X is not None:
        _scatter(ax, X, shown, None if tree.n_classes is not None else colors)
    return _framed(ax, bounds, labels.feature_names)


def _draw_effect(effect, feature_names, cmap, ax):
    """A partial effect as a picture, with the samples that are inside."""
    image, bounds, names, points = effect
    names = names if feature_names is None else [str(name) for name in listed("feature_names", feature_names)]
    if len(names) != 2:
        raise ValueError(f"feature_names has {len(names)} names, expected 2")
    ax = _new_axes() if ax is None else ax
    half = np.diff(bounds, axis=1).ravel() / (len(image) - 1) / 2
    extent = np.stack([bounds[:, 0] - half, bounds[:, 1] + half], axis=1).ravel()
    shown = ax.imshow(image, origin="lower", aspect="auto", extent=extent, cmap=cmap)
    ax.figure.colorbar(shown, ax=ax, label="mean score")
    _scatter(ax, points, None, None)
    return _framed(ax, bounds, names)


def _new_axes():
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(6.4, 4.8), layout="constrained")[1]


def _framed(ax, bounds, names):
    """The axes with limits and names of both features."""
    ax.set(xlim=bounds[0], ylim=bounds[1])
    ax.set_xlabel(names[0], parse_math=False)
    ax.set_ylabel(names[1], parse_math=False)
    return ax


# What is drawn ------------------------------------------------------------------------


def _refuse_encoded(model):
    """ValueError for a model of a table whose columns are not its features."""
    encoder = getattr(model, "encoder_", None)
    if encoder is None:
        return
    refuse_categories(model, range(encoder.n_features_in))
    for column, kind, _ in encoder.layout():
        if kind == "missing":
            raise ValueError(
                f"feature {column_names(model)[column]!r} had missing values in fit, so the tree has an "
                "indicator of them too: regions of the plane need two features; fit it to rows without "
                "missing values"
            )


def _points(model, X, names):
    """The samples as float64, (n_samples, 2); ValueError where an estimator was fitted to columns of other names."""
    X = plain_rows(X)
    if len(X.shape) != 2 or X.shape[1] != 2:
        raise ValueError(f"X has shape {X.shape}, expected (n_samples, 2)")
    if isinstance(model, BaseEstimator):
        validate_data(model, X, reset=False, skip_check_array=True)
    return points_of(X, (0, 1), names)


def _shown(tree, X, y, classes, output):
    """The number or the class index that colours each point (None: neutral)."""
    if X is None and y is not None:
        raise ValueError("y colours the points of X, but X was not given")
    if y is None:
        return None
    y = np.asarray(y)
    if y.shape[:1] != X.shape[:1] or y.ndim > 2:
        raise ValueError(f"y has shape {y.shape}, X has {X.shape[0]} samples")
    if tree.n_classes is None:
        try:
            return (y if y.ndim == 1 else y[:, output]).astype(np.float64)
        except ValueError as error:
            raise ValueError(
                "y has to be numbers, as this tree predicts numbers: those of a classifier's estimators_ know no classes, but "
                "predict scores of them"
            ) from error
    classes = np.arange(tree.n_classes) if classes is None else classes
    index = np.searchsorted(classes, y.ravel()).clip(max=len(classes) - 1)
    if np.any(classes[index] != y.ravel()):
        raise ValueError(f"y holds labels that are not among the classes {classes}")
    return index


def _leaf_plane(tree, node, output):
    """Slope and constant of a leaf's prediction of one output."""
    row = tree.leaf_index[node]
    constant = tree.leaf_intercept[row, output]
    if tree.leaf_coef.shape[0] == 0:
        return np.zeros(2), constant
    return tree.leaf_coef[row, output], constant


def _range(tree, polygons, shown, output):
    """Smallest and largest value shown."""
    values = [np.zeros(0) if shown is None else shown]
    for node, polygon in polygons.items():
        slope, constant = _leaf_plane(tree, node, output)
        # A linear function has its extremes at the corners.
        values.append(polygon @ slope + constant)
    values = np.concatenate(values)
    return float(values.min()), float(values.max())


def _fill_regression(ax, tree, polygons, colors):
    from matplotlib.patches import Polygon

    for node, polygon in polygons.items():
        slope, constant = _leaf_plane(tree, node, colors.output)
        flat = not slope.any()
        color = colors.scalar(constant) if flat else "none"
        patch = ax.add_patch(Polygon(polygon, facecolor=color, edgecolor="none"))
        if flat:
            continue
        low, high = polygon.min(axis=0), polygon.max(axis=0)
        # Pixel centres run from one end of the polygon's rectangle to the other, so the
        # picture reaches half a pixel further.
        pixel = (high - low) / (_GRID - 1)
        first, second = np.linspace(low, high, _GRID).T
        image = ax.imshow(
            slope[0] * first + slope[1] * second[:, None] + constant,
            cmap=colors.cmap,
            norm=colors.norm,
            origin="lower",
            aspect="auto",
            interpolation="bilinear",
            extent=np.stack([low - pixel / 2, high + pixel / 2], axis=1).ravel(),
        )
        image.set_clip_path(patch)


def _fill_classes(ax, tree, polygons, colors, class_names):
    from matplotlib.patches import Patch, Polygon

    for node, polygon in polygons.items():
        if tree.leaf_coef.shape[0] == 0:
            parts = {int(np.argmax(tree.value[node, 0])): polygon}
        else:
            parts = class_polygons(tree, node, polygon)
        for winner, part in parts.items():
            # Paler than the points, which are drawn in the full colour.
            ax.add_patch(Polygon(part, color=colors.of_class(winner, strength=0.6)))
    handles = [
        Patch(color=colors.of_class(index, strength=0.6), label=cut(name))
        for index, name in enumerate(class_names)
    ]
    rows, most_columns = _LEGEND_SHAPE
    n_columns = -(-len(handles) // rows)
    if len(handles) <= len(CLASS_COLORS):
        plain_legend(ax, handles, loc="best")
    elif n_columns <= most_columns:
        beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "fontsize": "small"}
        plain_legend(ax, handles, ncols=n_columns, **beside)


def _outline(ax, polygons):
    from matplotlib.patches import Polygon

    for polygon in polygons.values():
        ax.add_patch(
            Polygon(polygon, facecolor="none", edgecolor=_EDGE, linewidth=1.4, zorder=2)
        )


def _scatter(ax, X, shown, colors):
    style = {"s": 16.0, "linewidths": 0.5, "edgecolors": "#1d2329", "zorder": 3}
    if shown is None:
        ax.scatter(*X.T, color="white", **style)
    elif colors is None:
        ax.scatter(*X.T, c=[NodeColors.of_class(index) for index in shown], **style)
    else:
        ax.scatter(*X.T, c=shown, cmap=colors.cmap, norm=colors.norm, **style)
