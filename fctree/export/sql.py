"""SQL expressions of fitted trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fctree._tables.estimators import column_names
from fctree.export.description import describe
from fctree.export.sql_text import clipped, number, quoted
from fctree.oblique.calibration import FLOOR

_LINKS = {
    "identity": "{}",
    "exp": "EXP({})",
    "certain": "1.0",
    "logistic": "1.0 / (1.0 + EXP(-({})))",
}


def to_sql(model: Any, columns: Sequence[str] | None = None) -> str:
    """Convert a fitted model to one SQL expression of nested ``CASE``.

    Its value is the prediction, or the probability of the second class, ``classes_[-1]``. It is meant for
    one tree or a few, since each leaf is a line of text. ``EXP`` is used for log-odds and for losses with a
    log link. NULL is a missing value, which oblique trees replace by the training mean. Categorical columns
    are compared with the text or numbers of the training data.

    Parameters
    ----------
    model : fitted estimator
        A tree, forest or boosting model with one output or at most two classes.
    columns : sequence of str, default=None
        Names of the columns in the database; by default those of the training table, or ``x0``, ``x1``, ..

    Returns
    -------
    expression : str

    Raises
    ------
    TypeError
        If the model is of another kind, or `columns` is not a sequence of strings.
    ValueError
        For more outputs or classes, trees of a thousand levels, a column with text and numbers, categories that SQL cannot hold (text with a NUL character)
        or tell apart, a wrong number of names, or names that are empty or occur twice.
    NotFittedError
        If the model has not been fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree import CurvatureTreeRegressor
    >>> from fctree.export import to_sql
    >>> X = np.arange(100.0)[:, np.newaxis]
    >>> tree = CurvatureTreeRegressor(max_depth=1, leaf_model="constant").fit(X, X[:, 0] > 49)
    >>> print(to_sql(tree, columns=["age"]))
    CASE WHEN COALESCE("age", 49.5e0) <= 49.5e0 THEN 0.0e0
    ELSE 1.0e0 END
    """
    described = describe(model)
    link, table = described.link, described.table
    if not hasattr(described.scores, "sql"):
        raise TypeError(f"to_sql takes trees with hard splits, got a {type(model).__name__} with soft ones")
    if len(link.offset) > 1 or (link.classes is not None and len(link.classes) > 2):
        raise ValueError("to_sql takes models of one output or at most two classes")
    names = column_names(model) if columns is None else _checked_names(columns)
    if len(names) != table.n_columns:
        raise ValueError(f"columns has {len(names)} names, the model {table.n_columns} columns")
    features = table.sql([quoted(name) for name in names])
    try:
        trees = " +\n".join(described.scores.sql(features)) or "0.0"
    except RecursionError:
        raise ValueError("to_sql takes trees of up to some hundred levels: each is a CASE within another") from None
    offset, factor = (float(np.ravel(part)[0]) for part in (link.offset, link.factor))
    score = trees if factor == 1.0 else f"{number(factor)} * ({trees})"
    score = score if offset == 0.0 else f"{number(offset)} +\n{score}"
    if link.kind == "share":
        share = clipped(score, 0.0, 1.0)
        if link.calibration is None:
            return share
        exponent, shifts = link.calibration
        both, odds = number(1.0 + 2.0 * FLOOR), number(np.exp(shifts[0] - shifts[1]))
        power = f"POWER({both} / ({number(FLOOR)} + {share}) - 1.0, {number(exponent)})"
        return f"1.0 / (1.0 + {odds} * {power})"
    return _LINKS[link.kind].format(score)


def _checked_names(columns):
    names = list(columns)
    if isinstance(columns, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"columns must be a sequence of strings, got {columns!r}")
    if len(set(names)) < len(names) or "" in names:
        raise ValueError(f"columns must be names that differ, and not empty: got {columns!r}")
    return names
