"""Result classes: importances with their uncertainty and cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame


def import_pandas():
    """pandas; ImportError that names `to_frame` without it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_frame() needs pandas, which is not installed") from error
    return pandas


@dataclass(eq=False, repr=False, kw_only=True)
class _Values:
    """Values of groups of features with their errors; a subclass has a ``_title``."""

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
    full_score: float
    full_n_iter: int
    full_fit_seconds: float
    n_test: int
    warnings: list = field(default_factory=list)

    def to_frame(self) -> DataFrame:
        """Convert values, errors, intervals and tests to a pandas data frame, one row per group.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        columns = {
            "importance": self.importances,
            "stderr": self.stderr,
            "low": self.confidence_interval[:, 0],
            "high": self.confidence_interval[:, 1],
            "p_value": self.p_values,
            "trusted": self.trusted,
        }
        return import_pandas().DataFrame(columns, index=self.names)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self):
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self):
        """A table, the largest value first."""
        width = max(len("feature"), *(len(name) for name in self.names))
        level = f"{100 * self.confidence_level:g} % interval"
        lines = [self._title()]
        lines.append(f"{'feature':<{width}}  {'value':>10}  {'stderr':>9}  {level:>24}  {'p':>8}")
        for row in np.argsort(-self.importances, kind="stable"):
            low, high = self.confidence_interval[row]
            mark = "" if self.trusted[row] else "  *"
            lines.append(
                f"{self.names[row]:<{width}}  {self.importances[row]:>10.4g}  "
                f"{self.stderr[row]:>9.2g}  {f'[{low:.4g}, {high:.4g}]':>24}  "
                f"{self.p_values[row]:>8.2g}{mark}"
            )
        if not np.all(self.trusted):
            lines.append("* the interval is not to be trusted, see warnings")
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])


@dataclass(eq=False, repr=False, kw_only=True)
class ImportanceResult(_Values):
    """Importances of groups of features.

    Attributes
    ----------
    names : list of str
        Names of the groups, in the given order.
    groups : list of arrays
        The columns of each group.
    method : str
    scoring : str
    importances : ndarray of shape (n_groups,)
        Score with all features minus the score without the group.
    stderr : ndarray of shape (n_groups,)
        Standard errors of `importances`.
    confidence_interval : ndarray of shape (n_groups, 2)
        Lower and upper bounds.
    confidence_level : float
    p_values : ndarray of shape (n_groups,)
        p-values of the one-sided test of the hypothesis that the importance is 0 or less. Its standard error, larger than `stderr`, is also
        valid at 0, so small importances need many test samples. NaN if the standard error is 0.
    trusted : ndarray of shape (n_groups,), bool
        Whether the interval is valid, which needs at least 10 test samples; `warnings` states the reason if
        not.
    n_iter : ndarray of shape (n_groups,)
        Rounds of training for each group.
    fit_seconds : ndarray of shape (n_groups,)
        Training time for each group, in seconds.
    scores : ndarray of shape (n_groups,)
        Scores without each group.
    full_score : float
        Score with all features.
    full_n_iter : int
        Rounds of training with all features.
    full_fit_seconds : float
        Training time with all features, in seconds.
    n_test : int
        Number of test samples, those of both halves with `sample_splitting`.
    sample_splitting : bool
        Whether each model was tested on a half of the test samples of its own.
    warnings : list of str
    """

    scores: np.ndarray
    sample_splitting: bool = False

    def _title(self):
        return f"Importance by {self.method}, {self.scoring}, {self.n_test} test samples"


@dataclass(eq=False, repr=False, kw_only=True)
class ShapleyResult(_Values):
    """Shapley values of features or groups of them.

    They sum to `full_score` minus `empty_score`.

    Attributes
    ----------
    names, groups, method, scoring, importances, stderr, confidence_interval, \
confidence_level, p_values, trusted, warnings
        As in `ImportanceResult`; `importances` are the Shapley values.
    full_score, empty_score : float
        Scores with all features and with none.
    subsets : ndarray of shape (n_subsets, n_groups), bool
        Subsets whose models were evaluated.
    subset_scores : ndarray of shape (n_subsets,)
    n_iter, fit_seconds : ndarray of shape (n_subsets,)
    exact : bool
        Whether all subsets were evaluated.
    full_n_iter : int
    full_fit_seconds : float
    n_test : int
    """

    empty_score: float
    subsets: np.ndarray
    subset_scores: np.ndarray
    exact: bool

    def _title(self):
        kind = "all" if self.exact else "drawn"
        return (
            f"Shapley values by {self.method}, {self.scoring}, "
            f"{len(self.subsets)} subsets ({kind}), {self.n_test} test samples"
        )
