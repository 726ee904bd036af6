"""Result classes: importances with their uncertainty and cost."""

from dataclasses import dataclass, field
from html import escape

import numpy as np


@dataclass(eq=False, repr=False)
class ImportanceResult:
    """Importances of groups of features.

    Attributes
    ----------
    names : list of str
        Of the groups, in the given order.
    groups : list of arrays
        The columns of each group.
    method : str
    scoring : str
    importances : ndarray of shape (n_groups,)
        Score with all features minus the score without the group.
    stderr : ndarray of shape (n_groups,)
    confidence_interval : ndarray of shape (n_groups, 2)
    confidence_level : float
    p_values : ndarray of shape (n_groups,)
        One-sided test of the importance being 0.
    trusted : ndarray of shape (n_groups,), bool
        Whether the interval is valid; `warnings` says why not.
    n_iter : ndarray of shape (n_groups,)
        Rounds of training for each group.
    fit_seconds : ndarray of shape (n_groups,)
    scores : ndarray of shape (n_groups,)
        Without each group.
    full_score : float
    full_n_iter : int
    full_fit_seconds : float
    n_test : int
    sample_splitting : bool
    warnings : list of str
    """

    names: list
    groups: list
    method: str
    scoring: str
    importances: np.ndarray
    stderr: np.ndarray
    confidence_interval: np.ndarray
    confidence_level: float
    p_values: np.ndarray
    trusted: np.ndarray
    n_iter: np.ndarray
    fit_seconds: np.ndarray
    scores: np.ndarray
    full_score: float
    full_n_iter: int
    full_fit_seconds: float
    n_test: int
    sample_splitting: bool = False
    warnings: list = field(default_factory=list)

    def to_frame(self):
        """The importances as a pandas data frame, one row per group."""
        return importance_frame(self)

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self):
        title = f"Importance by {self.method}, {self.scoring}, {self.n_test} test samples"
        return importance_text(self, title)


@dataclass(eq=False, repr=False)
class ShapleyResult:
    """Shapley values of features or groups of them.

    They sum to `full_score` minus `empty_score`.

    Attributes
    ----------
    names, groups, method, scoring, importances, stderr, confidence_interval, \
confidence_level, p_values, trusted, warnings
        As in `ImportanceResult`; `importances` are the Shapley values.
    full_score, empty_score : float
        With all features, and with none.
    subsets : ndarray of shape (n_subsets, n_groups), bool
        The subsets whose models were evaluated.
    subset_scores : ndarray of shape (n_subsets,)
    n_iter, fit_seconds : ndarray of shape (n_subsets,)
    exact : bool
        Whether all subsets were evaluated.
    full_n_iter : int
    full_fit_seconds : float
    n_test : int
    """

    names: list
    groups: list
    method: str
    scoring: str
    importances: np.ndarray
    stderr: np.ndarray
    confidence_interval: np.ndarray
    confidence_level: float
    p_values: np.ndarray
    trusted: np.ndarray
    full_score: float
    empty_score: float
    subsets: np.ndarray
    subset_scores: np.ndarray
    n_iter: np.ndarray
    fit_seconds: np.ndarray
    exact: bool
    full_n_iter: int
    full_fit_seconds: float
    n_test: int
    warnings: list = field(default_factory=list)

    def to_frame(self):
        """The values as a pandas data frame, one row per group."""
        return importance_frame(self)

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self):
        kind = "all" if self.exact else "drawn"
        title = (
            f"Shapley values by {self.method}, {self.scoring}, "
            f"{len(self.subsets)} subsets ({kind}), {self.n_test} test samples"
        )
        return importance_text(self, title)


def importance_frame(result):
    """Names, importances, errors, intervals and tests as a pandas data frame.

    Raises
    ------
    ImportError
        If pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_frame() needs pandas, which is not installed") from error
    columns = {
        "importance": result.importances,
        "stderr": result.stderr,
        "low": result.confidence_interval[:, 0],
        "high": result.confidence_interval[:, 1],
        "p_value": result.p_values,
        "trusted": result.trusted,
    }
    return pd.DataFrame(columns, index=result.names)


def importance_text(result, title):
    """A table as text, the largest importance first."""
    width = max(len("feature"), *(len(name) for name in result.names))
    level = f"{100 * result.confidence_level:g} % interval"
    lines = [title, f"{'feature':<{width}}  {'value':>10}  {'stderr':>9}  {level:>24}  {'p':>8}"]
    for row in np.argsort(-result.importances, kind="stable"):
        low, high = result.confidence_interval[row]
        mark = "" if result.trusted[row] else "  *"
        lines.append(
            f"{result.names[row]:<{width}}  {result.importances[row]:>10.4g}  "
            f"{result.stderr[row]:>9.2g}  {f'[{low:.4g}, {high:.4g}]':>24}  "
            f"{result.p_values[row]:>8.2g}{mark}"
        )
    if not np.all(result.trusted):
        lines.append("* the interval is not to be trusted, see warnings")
    return "\n".join([*lines, *(f"warning: {text}" for text in result.warnings)])
