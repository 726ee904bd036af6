"""Partial effects: the mean score of a model of many trees over two features."""

import numpy as np

from fctree._scored_trees import ScoredTrees
from fctree._tables.columns import read_column
from fctree._tables.estimators import column_names
from fctree._tables.frames import plain_rows, raw_columns, taken
from fctree.plotting.tree_labels import at_least

_GRID = 64  # values of each feature
_ROWS = 100  # samples that the others' values come from


def partial_effect_image(model, X, features, bounds, output):
    """The score's mean over samples on a grid of two features, (64, 64), first axis the second feature.

    Other features take the values of at most 100 evenly spaced rows of `X`. ``features`` are names or
    indices, or None for a model of two. Returns the bounds (2, 2), the names and the points (n_samples, 2)
    besides; ValueError for features that there are not or that are no numbers.
    """
    scored = ScoredTrees.of(model)
    at_least("output", output, 0, high=scored.trees.n_outputs - 1)
    columns, names = _columns(scored, features)
    X = plain_rows(X)
    if len(X.shape) != 2 or X.shape[1] != model.n_features_in_ or len(X) == 0:
        raise ValueError(f"X must have the shape (n_samples, {model.n_features_in_}), got {X.shape}")
    points = points_of(X, columns, names)
    bounds = checked_bounds(bounds, points, margin=0.0)
    grids = [np.linspace(*limits, _GRID) for limits in bounds]
    rows = np.arange(len(points))[:: -(-len(points) // _ROWS)]
    scores = scored.partial_effect(taken(X, rows), columns, grids)
    return scores[:, :, output].T, bounds, names, points


def points_of(X, columns, names):
    """Columns of numbers as float64, (n_samples, n_columns); ValueError for one of text, which ``names`` tell."""
    raw = raw_columns(X)
    return np.column_stack([read_column(raw[j], name, False).numbers for j, name in zip(columns, names, strict=True)])


def _columns(scored, features):
    names = column_names(scored.model)
    if features is None:
        if len(names) != 2:
            raise ValueError(
                f"the model has {len(names)} features: choose two of them with features="
            )
        features = (0, 1)
    features = list(features)
    if len(features) != 2:
        raise ValueError(f"features must be two names or indices, got {features!r}")
    columns = [_index(feature, names) for feature in features]
    if columns[0] == columns[1]:
        raise ValueError(f"features must be two different ones, got {features!r}")
    refuse_categories(scored.model, columns)
    return columns, [names[column] for column in columns]


def refuse_categories(model, columns):
    """ValueError for columns that hold no numbers."""
    encoder = getattr(model, "encoder_", None)
    for column in columns:
        if encoder is not None and encoder.categories[column] is not None:
            raise ValueError(f"feature {column_names(model)[column]!r} holds categories, not numbers")


def _index(feature, names):
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"features holds {feature!r}, which the model does not have")
        return names.index(feature)
    return at_least("features", feature, 0, high=len(names) - 1)


def _bounds_of(points, margin):
    finite = np.isfinite(points)
    if not finite.any(axis=0).all():
        raise ValueError("give bounds, or samples X without missing values")
    low = np.min(points, axis=0, where=finite, initial=np.inf)
    high = np.max(points, axis=0, where=finite, initial=-np.inf)
    widening = margin * np.where(high > low, high - low, 1.0)
    low, high = low - widening, high + widening
    return np.stack([low, np.where(high > low, high, low + 1.0)], axis=1)


def checked_bounds(bounds, points, margin):
    """Rows (low, high) of two features: as given, or where finite points lie, widened by a share of it on each side."""
    bounds = np.asarray(_bounds_of(points, margin) if bounds is None else bounds, dtype=np.float64)
    if bounds.shape != (2, 2) or not np.isfinite(bounds).all():
        raise ValueError("bounds must be two finite rows (low, high)")
    if np.any(bounds[:, 0] >= bounds[:, 1]):
        raise ValueError(f"bounds must have low < high, got {bounds.tolist()}")
    return bounds
