"""Distillation: one curvature tree that predicts what another model predicts.

The tree is grown on the training rows and on points between each row and its neighbours, labelled by
the teacher: many more samples than the training data have, without their noise, so that more splits
pass the leave-one-out test (Craven and Shavlik 1996 for axis-aligned trees).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import cpu_count
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import r2_score
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from fctree._sklearn import get_feature_names, validate_parameters
from fctree._tables.columns import quantities
from fctree._tables.encoder import TableEncoder
from fctree._tables.estimators import wanted_categories
from fctree._tables.frames import check_frame, is_frame, raw_columns, table_of, taken, with_numbers, without_mask
from fctree._typing import ArrayLike, FloatArray, RandomState
from fctree._validation import check_labels, check_training_data, fitted_whole
from fctree.oblique import CurvatureTreeClassifier, CurvatureTreeRegressor
from fctree.oblique.base import BaseObliqueTree
from fctree.oblique.curvature import BaseCurvatureTree

_NEIGHBORS = 10
# Of the sum of the probabilities of a teacher that computes in float16 or float32.
_ROUNDING = 0.01
# Rows for each processor between two looks for Ctrl-C. With more than these scikit-learn takes the way of many rows, which
# has its own order of equally near ones.
_SEARCHED = 1024
# Fits of the control in search of the margin with as many leaves as the distilled tree has.
_SEARCH_STEPS = 8


def distill(
    teacher: Any,
    X: ArrayLike,
    tree: Any = None,
    *,
    n_points: int = 15,
    random_state: RandomState = None,
) -> Any:
    """Grow one curvature tree on the predictions of another model.

    Parameters
    ----------
    teacher : object with `predict`
        A fitted model. For a classifier `predict_proba` is used if it has one.
    X : array or data frame of shape (n_samples, n_features)
        Samples such as those the teacher was trained on; no targets are needed.
    tree : CurvatureTreeRegressor, CurvatureTreeClassifier, FCODTRegressor or FCODTClassifier, \
            default=None
        Unfitted tree with the parameters. None is a `CurvatureTreeClassifier` for a classifier, else a
        `CurvatureTreeRegressor`.
    n_points : int, default=15
        Number of synthetic points per row of `X`, labelled by the teacher; they lie on the lines to the
        nearest neighbours of the row. 0 uses only the rows. Text and categorical values (by
        `categorical_features` of `tree` or `teacher`) are those of the nearer of the two rows. Columns that
        a pipeline encodes are not detected: name columns of numeric codes in the `categorical_features` of
        `tree`.
    random_state : int, RandomState instance or None, default=None
        Seed of the points.

    Returns
    -------
    tree : estimator
        A fitted clone of `tree` with one more attribute, `fidelity_`: R² of the tree for the predictions of
        the teacher on `X`, or the share of rows with the teacher's class. It has no prediction intervals,
        since its errors refer to the teacher, not the targets.

    Raises
    ------
    ValueError
        If `n_points` is negative, if one of `tree` and `teacher` is a classifier and the other a regressor, if the predictions
        of the teacher are not finite numbers of the expected shape, if its probabilities do not sum to 1, or if it
        meets unknown categories.
    TypeError
        If `tree` is not an oblique tree, or `teacher` cannot predict.

    See Also
    --------
    compare_distilled : Compares the tree with its teacher and with trees fitted to the targets.

    Examples
    --------
    >>> from fctree import CurvatureBoostingRegressor
    >>> from fctree.datasets import make_ridge_relu
    >>> from fctree.inspection import distill
    >>> X, y = make_ridge_relu(n_samples=500, random_state=0)
    >>> teacher = CurvatureBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
    >>> tree = distill(teacher, X, random_state=0)
    >>> bool(tree.fidelity_ > 0.9)
    True
    """
    if isinstance(n_points, bool) or not isinstance(n_points, (int, np.integer)) or n_points < 0:
        raise ValueError(f"n_points must be an integer of at least 0, got {n_points!r}")
    tree = _unfitted(teacher, tree)
    rows = _Rows(X, tree, teacher)
    points = rows.with_points(n_points, check_random_state(random_state))
    labels = _Teacher(teacher, is_classifier(tree))
    student = labels.fit(clone(tree), points)
    student.fidelity_ = labels.agreement(X, student.predict(X))
    return student


def compare_distilled(
    tree: Any, teacher: Any, X: ArrayLike, y: ArrayLike, eval_set: tuple[ArrayLike, ArrayLike]
) -> dict[str, list[Any]]:
    """Compare a distilled tree with its teacher and with trees fitted to the targets, on new samples.

    Parameters
    ----------
    tree : estimator
        A tree returned by `distill`.
    teacher : object with `predict`
        The model that it was distilled from.
    X : array or data frame of shape (n_samples, n_features)
        Rows that both were trained on.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their true targets.
    eval_set : tuple (X, y)
        Samples that neither the teacher nor the tree has seen.

    Returns
    -------
    table : dict of lists
        Columns ``model``, ``n_leaves``, ``fidelity`` (R² for the predictions of the teacher, or the share
        of rows with its class) and ``score`` (R² or accuracy for the targets of `eval_set`). Models are
        "distilled", "teacher", "plain" (the tree fitted to `y`) and "control" (the tree fitted to `y` with
        as many leaves as the distilled one, or as near as a lower `split_margin` gets).

    Raises
    ------
    ValueError
        If `X` and `y` have different lengths, or `eval_set` is not a pair of one length.
    TypeError
        If `tree` is not an oblique tree, or `teacher` cannot predict.
    """
    if not isinstance(eval_set, (tuple, list)) or len(eval_set) != 2:
        raise ValueError("eval_set must be a pair (X, y)")
    if _unfitted(teacher, tree) is not tree:
        raise TypeError("tree must be what distill returned, got None")
    check_consistent_length(X, y)
    check_consistent_length(*eval_set)
    labels = _Teacher(teacher, is_classifier(tree))
    plain = clone(tree).fit(X, y)
    control = _with_leaves(tree, plain, tree.get_n_leaves(), lambda m: m.fit(X, y))
    models = {"distilled": tree, "teacher": teacher, "plain": plain, "control": control}
    predictions = [model.predict(eval_set[0]) for model in models.values()]
    return {
        "model": list(models),
        "n_leaves": [m.get_n_leaves() if m is not teacher else None for m in models.values()],
        "fidelity": [labels.agreement(eval_set[0], of_model) for of_model in predictions],
        "score": [labels.score(eval_set[1], of_model) for of_model in predictions],
    }


def _unfitted(teacher, tree):
    """The tree to grow; TypeError, or ValueError for one that is of the wrong kind."""
    if not callable(getattr(teacher, "predict", None)):
        raise TypeError(f"teacher must have a method predict, got {teacher!r}")
    if tree is None:
        # Any object may teach; scikit-learn knows the kind of its own ones.
        known = hasattr(teacher, "__sklearn_tags__") and is_classifier(teacher)
        classes = known or hasattr(teacher, "predict_proba")
        return CurvatureTreeClassifier() if classes else CurvatureTreeRegressor()
    if not isinstance(tree, BaseObliqueTree):
        raise TypeError(f"tree must be a CurvatureTree* or FCODT*, got {tree!r}")
    if hasattr(teacher, "__sklearn_tags__"):
        if is_classifier(tree) and is_regressor(teacher):
            raise ValueError(f"tree is a classifier and teacher a regressor: take a regression tree, got {tree!r}")
        if is_classifier(teacher) and not is_classifier(tree):
            raise ValueError(f"teacher is a classifier and tree a regressor: take a classification tree, got {tree!r}")
    return tree


class _Teacher:
    """The teacher's predictions as targets of trees."""

    def __init__(self, model, classification):
        self.model = model
        self.classification = classification

    def fit(self, student, X):
        """Fit the tree to what the teacher predicts for X."""
        if not self.classification:
            student.fit(X, self._numbers(X))
            student._drop_intervals()
            return student
        shares, classes = self._shares(X)
        with fitted_whole(student) as fitted:
            validate_parameters(fitted)
            labels = classes[shares.argmax(axis=1)]
            X, _, _ = check_training_data(fitted, X, labels, None, multi_output=False)
            fitted._grow_classes(X, shares, classes, None)
        return student

    def _predicted(self, method, X):
        try:
            found = getattr(self.model, method)(X)
            if isinstance(found, list) and found and np.ndim(found[0]) == 2:
                raise ValueError(f"teacher.{method}(X) is a list of tables, as of classifiers of several outputs: distill one of them")
            return np.asarray(found)
        except ValueError as error:  # as encoders of scikit-learn say it
            if "unknown categories" not in str(error):
                raise
            raise ValueError(
                f"teacher.{method}(X) met unknown categories, in points between the rows if these are numbers that "
                "it takes for categories: name their columns in categorical_features of tree, or pass n_points=0"
            ) from error

    def _numbers(self, X):
        values = self._predicted("predict", X)
        if values.size and isinstance(values.flat[0], (str, bytes)):
            raise ValueError(
                "teacher.predict(X) gives labels of text, which no regression tree can learn: let tree be "
                "a CurvatureTreeClassifier or FCODTClassifier"
            )
        options: dict[str, Any] = {"dtype": np.float64, "ensure_2d": False, "allow_nd": True}
        values = check_array(values, input_name="teacher.predict(X)", **options)
        if values.ndim > 2 or len(values) != len(X):
            raise ValueError(f"teacher.predict(X) has the shape {values.shape} for {len(X)} rows")
        return values

    def _shares(self, X):
        """Probabilities (n_samples, n_classes), and the classes."""
        if not hasattr(self.model, "predict_proba"):
            predictions = column_or_1d(self._predicted("predict", X))
            check_labels(predictions)
            classes, labels = np.unique(predictions, return_inverse=True)
            return np.eye(len(classes))[labels], classes
        shares = check_array(
            self._predicted("predict_proba", X), dtype=np.float64, input_name="teacher.predict_proba(X)"
        )
        classes = np.asarray(getattr(self.model, "classes_", np.arange(shares.shape[1])))
        if shares.shape != (len(X), len(classes)):
            raise ValueError(
                f"teacher.predict_proba(X) has the shape {shares.shape} for {len(X)} rows and "
                f"{len(classes)} classes"
            )
        if np.any(np.abs(np.abs(shares).sum(axis=1) - 1.0) > _ROUNDING):
            raise ValueError("teacher.predict_proba(X) gives no probabilities: rows must be 0 or more and sum to 1")
        order = np.argsort(classes)
        return np.ascontiguousarray(shares[:, order]), classes[order]

    def agreement(self, X, predictions):
        """R² for the teacher's predictions, or the share of equal classes."""
        own = np.asarray(self.model.predict(X)).reshape(np.shape(predictions))
        return self.score(own, predictions)

    def score(self, y, predictions):
        """R² or accuracy."""
        if self.classification:
            return float(np.mean(np.ravel(y) == np.ravel(predictions)))
        return float(r2_score(y, predictions))


class _Rows:
    """Rows of a table or of an array of numbers, and points between them."""

    def __init__(self, X, tree, teacher):
        X = check_frame(X)
        X = without_mask(X)
        self.table = X if is_frame(X) else table_of(X)
        if self.table is None:
            self.table = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
        names = get_feature_names(X)
        known = _categories(tree, teacher, names, self.table.shape[1])
        read = [
            None if j in known else quantities(raw, f"x{j}" if names is None else names[j])
            for j, raw in enumerate(raw_columns(self.table))
        ]
        self.places = [j for j, numbers in enumerate(read) if numbers is not None]
        self.values = np.empty((len(self.table), len(self.places)))
        for values, j in zip(self.values.T, self.places, strict=True):
            values[:] = read[j]

    def with_points(self, n_points: int, rng: np.random.RandomState) -> Any:
        """The rows, and n_points more for each of them, in the container that the rows came in.

        A point lies at a uniform share of the way to one of the ten nearest rows. What is no number,
        or missing in one of the two, comes from the nearer one.
        """
        n = len(self.values)
        n_neighbors = min(_NEIGHBORS, n - 1)
        if n_points == 0 or n_neighbors == 0:
            return self.table
        origin = np.repeat(np.arange(n), n_points)
        chosen = rng.randint(n_neighbors, size=len(origin))
        other = self._neighbors(n_neighbors)[origin, chosen]
        share = rng.uniform(size=len(origin))
        nearer = np.where(share < 0.5, origin, other)
        here, there = self.values[origin], self.values[other]
        points = here + share[:, np.newaxis] * (there - here)
        points = np.where(np.isnan(points), self.values[nearer], points)
        numbers = np.concatenate([self.values, points])
        drawn = taken(self.table, np.concatenate([np.arange(n), nearer]))
        return with_numbers(drawn, dict(zip(self.places, numbers.T, strict=True)))

    def _neighbors(self, k: int) -> np.ndarray:
        """The k nearest rows of each, (n, k), features standardised and missing ones at the mean."""
        if self.values.shape[1] == 0:
            n = len(self.values)
            return (np.arange(n)[:, np.newaxis] + np.arange(1, k + 1)) % n
        scaled: FloatArray = self.values - np.nanmean(self.values, axis=0)
        deviation = np.nanstd(self.values, axis=0)
        scaled = np.nan_to_num(scaled / np.where(deviation > 0.0, deviation, 1.0))
        found = NearestNeighbors(n_neighbors=k).fit(scaled)
        parts = np.array_split(np.arange(len(scaled)), max(1, len(scaled) // (_SEARCHED * cpu_count() + 1)))
        return np.concatenate([
            _without_self(found.kneighbors(scaled[rows], k + 1, return_distance=False), rows) for rows in parts
        ])


def _without_self(found, rows):
    """Neighbours of rows without these themselves, which equal rows may have crowded out."""
    others = found != rows[:, np.newaxis]
    others[others.all(axis=1), 0] = False
    return found[others].reshape(len(rows), -1)


def _categories(tree, teacher, names, n_features):
    """The columns that the tree is told, or the teacher has learned, to take for categories, as a set of
    indices."""
    masks = [wanted_categories(tree, names, n_features)]
    encoder = getattr(teacher, "encoder_", None)
    if isinstance(encoder, TableEncoder):
        masks.append([values is not None for values in encoder.categories])
    mask = getattr(teacher, "is_categorical_", None)  # of scikit-learn's boosting
    masks.append([] if mask is None else mask)
    return {j for mask in masks for j, is_category in enumerate(mask) if is_category}


def _with_leaves(tree: Any, plain: Any, n_leaves: int, fit: Callable[[Any], Any]) -> Any:
    """The tree whose `split_margin` gives the number of leaves nearest to one, by bisection."""
    if not isinstance(tree, BaseCurvatureTree) or plain.get_n_leaves() >= n_leaves:
        return plain
    best = fit(clone(tree).set_params(split_margin=0.0))
    low, high = 0.0, float(tree.split_margin)
    for _ in range(_SEARCH_STEPS):
        if best.get_n_leaves() <= n_leaves:
            break
        middle = 0.5 * (low + high)
        found = fit(clone(tree).set_params(split_margin=middle))
        if abs(found.get_n_leaves() - n_leaves) < abs(best.get_n_leaves() - n_leaves):
            best = found
        if found.get_n_leaves() == n_leaves:
            break
        low, high = (middle, high) if found.get_n_leaves() > n_leaves else (low, middle)
    return best
