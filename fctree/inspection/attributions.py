"""Attributions of single predictions to features: Shapley values and path attributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from fctree._native import inspection as _native
from fctree._tables.estimators import column_names
from fctree._tables.frames import plain_rows
from fctree._threads import count_threads
from fctree._training.progress import ProgressBar
from fctree._typing import ArrayLike
from fctree._scored_trees import ScoredTrees
from fctree._warnings import warn
from fctree.inspection.shap_result import ShapValues

# Each pair of a sample and a background sample costs up to 2**(columns of a leaf) steps a tree.
_SPARSE_SPLIT = 4  # columns
_FEW_COLUMNS = 12
_MOST_COLUMNS = 24
_BACKGROUND = 100
_ROWS_OF_A_THREAD = 16  # between two steps of a progress bar


def shap_values(
    model: Any,
    X: ArrayLike,
    background: ArrayLike | None = None,
    *,
    method: str = "auto",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> ShapValues:
    """Attribute the predictions of a tree model to the features.

    The values of a sample and the base value (the mean score of the background) sum to the score of the
    sample. Scores of regressors are predictions, or their logarithms for losses with a log link. Scores of
    classifiers are those of `decision_function`: log-odds for boosting, logits for curvature trees,
    predicted indicators for other trees and forests (with more than two classes, those of a forest before calibration). A
    column with categories or missing values is one feature, however the model encodes it. A statistic of a pair of
    columns is one player, whose value is shared equally between the two; with pairs, values are exact for the encoded
    features, not for the columns.

    Parameters
    ----------
    model : fitted estimator
        Symmetric boosting, or a tree, forest or boosting model of oblique trees.
    X : array-like of shape (n_samples, n_features)
        The samples to explain, as for `predict`.
    background : array-like of shape (n_background, n_features), default=None
        Samples that replace unknown features, such as training samples. None is `X` itself, or 100 evenly
        spaced rows of it for oblique trees, whose cost grows with the background. If a sample is its only
        background, its values are 0, with a warning.
    method : {"auto", "interventional", "path_dependent", "aumann_shapley"}, default="auto"
        Value of a coalition of features, or another way to share the score:

        - ``"interventional"``: exact Shapley values; the value of a coalition is the mean score over the
          background with the coalition's features taken from the sample [1]_. For symmetric trees the cost
          hardly depends on the background [2]_. For oblique trees it grows up to exponentially with the
          number of columns that a leaf depends on: those of the splits above it (limited by `max_coef`)
          and, where predictions are bounded (`extrapolation`), those of its linear model.
        - ``"path_dependent"``: exact Shapley values of symmetric trees; at a split by a feature outside the
          coalition both children are followed, weighted by their numbers of background samples.
        - ``"aumann_shapley"``: exact path attributions of oblique trees [3]_, also with dense splits: the
          changes of the score along the straight line from each background sample to the sample.
        - ``"auto"``: ``"interventional"`` for symmetric trees, and for oblique trees whose splits combine
          at most 4 columns and whose leaves depend on at most 12; else ``"aumann_shapley"``.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless set by a `joblib.parallel_config`, -1 is all cores. Results do
        not depend on it.
    verbose : int, default=0
        1 shows a progress bar for oblique trees.

    Returns
    -------
    result : ShapValues

    Raises
    ------
    TypeError
        For other models.
    ValueError
        For a method that the trees do not support, for ``"interventional"`` if a leaf of an oblique tree
        depends on more than 24 columns, and for input that `predict` refuses.

    References
    ----------
    .. [1] S. Lundberg et al., "From local explanations to global understanding with explainable AI
       for trees", Nature Machine Intelligence 2, 2020.
    .. [2] A. Nadel and R. Wettenstein, "From Decision Trees to Boolean Logic: A Fast and Unified
       SHAP Algorithm", 2025.
    .. [3] R. Aumann and L. Shapley, "Values of Non-Atomic Games", Princeton University Press, 1974.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from fctree import SymmetricBoostingRegressor
    >>> from fctree.inspection import shap_values
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SymmetricBoostingRegressor(random_state=0).fit(X, y)
    >>> result = shap_values(model, X[:5], X)
    >>> result.values.shape
    (5, 10)
    >>> bool(abs(result.values[0].sum() + result.base_values - model.predict(X[:1])[0]) < 1e-9)
    True
    """
    scored = ScoredTrees.of(model)
    method = _chosen_method(scored, method)
    n_threads = count_threads(n_jobs)
    features = scored.features(X)
    known = np.ascontiguousarray(_known(scored, features) if background is None else scored.features(background))
    players = scored.players, scored.n_players
    if scored.is_symmetric:
        values = _native.attribute_symmetric(
            scored.trees, features, known, *players,
            path_dependent=method == "path_dependent", n_threads=n_threads,
        )  # fmt: skip
    else:
        step = max(_ROWS_OF_A_THREAD * n_threads, -(-len(features) // 100)) if verbose else len(features)
        parts = []
        with ProgressBar(verbose, total=len(features), desc=method, unit="sample") as bar:
            for first in range(0, len(features), step):
                parts.append(_native.attribute_oblique(
                    scored.trees, features[first : first + step], known, *players,
                    along_lines=method == "aumann_shapley", n_threads=n_threads,
                ))  # fmt: skip
                bar.update(len(parts[-1]))
        values = np.concatenate(parts)
    values *= scored.factor
    values = scored.shared_by_columns(values)
    base = scored.mean_score(known, n_threads)
    several = len(base) > 1
    classes = getattr(model, "classes_", None)
    return ShapValues(
        values=values if several else values[:, :, 0],
        base_values=base if several else float(base[0]),
        data=np.asarray(plain_rows(X)),
        feature_names=column_names(model),
        output_names=None if classes is None else [str(c) for c in classes[-len(base) :]],
        method=method,
    )


def _known(scored, features):
    """The background where none is passed: of the features of the samples themselves."""
    if len(features) == 1:
        warn(
            "X is one sample, all of whose values are 0 beside itself: pass background=, such as the training samples",
        )
    step = 1 if scored.is_symmetric else -(-len(features) // _BACKGROUND)
    return features[::step]


def _chosen_method(scored, method):
    allowed = ["interventional", "path_dependent" if scored.is_symmetric else "aumann_shapley"]
    if not isinstance(method, str) or method not in ("auto", *allowed):
        kind = "symmetric" if scored.is_symmetric else "oblique"
        raise ValueError(
            f"method must be 'auto', {allowed[0]!r} or {allowed[1]!r} for {kind} trees, got {method!r}"
        )
    if scored.is_symmetric:
        return allowed[0] if method == "auto" else method
    if method == allowed[1]:
        return method
    n_columns = scored.most_players()
    if method == "auto":
        sparse = scored.widest_split() <= _SPARSE_SPLIT and n_columns <= _FEW_COLUMNS
        return allowed[0] if sparse else allowed[1]
    if n_columns > _MOST_COLUMNS:
        raise ValueError(
            f"a leaf depends on {n_columns} columns or pairs of columns, and exact Shapley values can "
            f"take 2**{n_columns} steps: use method='aumann_shapley', or a model with a small "
            "max_coef and extrapolation=None"
        )
    return method
