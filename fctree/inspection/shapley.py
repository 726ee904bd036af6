"""Shapley values of features: their shares of a model's improvement over a constant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from fctree._parameters import shares_documentation
from fctree._sklearn import Interval, validate_params
from fctree._typing import ArrayLike, RandomState
from fctree.inspection.groups import check_disjoint, check_groups
from fctree.inspection.importance import variable_importance
from fctree.inspection.intervals import doubts, wald
from fctree.inspection.results import ShapleyResult
from fctree.inspection.study import STUDY_CONSTRAINTS, Study, check_method, draws
from fctree.inspection.subsets import AllSubsets, DrawnSubsets

_ENUMERATED = 4096  # subsets at most, where their number is not given
_DRAWN = 2048


@shares_documentation(variable_importance)
@validate_params({
    "n_subsets": [Interval(Integral, 2, None, closed="left"), None],
    **STUDY_CONSTRAINTS,
})
def shapley_importance(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: Mapping[str, Sequence[int | str]] | Sequence[Any] | None = None,
    n_subsets: int | None = None,
    method: str = "early_stopping",
    validation_fraction: float = 0.25,
    test_fraction: float = 0.25,
    scoring: str = "neg_mean_squared_error",
    confidence_level: float = 0.95,
    min_iter: int = 10,
    verbose: int = 0,
    n_jobs: int | None = None,
    client: Any = None,
    random_state: RandomState = None,
) -> ShapleyResult:
    """Estimate Shapley values of features for the score of models with and without them.

    The value of feature j is ``phi_j = sum_U (v(U + j) - v(U)) / (p C(p - 1, |U|))`` over the subsets U
    without j. Here v(U) is the score of the model with the features of U, the others replaced by their
    training means (categories by missing values); v(empty) is that of the best constant. The values sum to
    v(full) - v(empty). Correlated features share their common contribution, whereas `variable_importance` gives
    each only what the others lack. Models of subsets are computed as in `variable_importance`, each from the same full model [1]_.

    Parameters
    ----------
    estimator, X, y, sample_weight, method, validation_fraction, test_fraction, scoring, \
confidence_level, min_iter, verbose, n_jobs, client, random_state
        As in `variable_importance`.
    groups : sequence of columns or of lists of them, or mapping of names to such, default=None
        Players, as columns by index or name; they must be disjoint. Features in no group are in every
        model. None is one group per feature.
    n_subsets : int or None, default=None
        Number of subsets to draw. If there are no more subsets, each is evaluated once and the values are
        exact. None is all subsets for up to 12 players, else 2,048 draws. Fewer than twice the number of
        groups often do not tell these apart, four times their number nearly always do. `stderr` includes the sampling
        error of the draws [2]_, infinite where one pair of subsets alone tells some groups apart.

    Returns
    -------
    result : ShapleyResult

    Raises
    ------
    ValueError
        As for `variable_importance`, for overlapping groups and for too few subsets.

    References
    ----------
    .. [1] Z. Sun and G. Raskutti, "Reliable and Scalable Variable Importance Estimation via
       Warm-start and Early Stopping", AISTATS 2025, section 3.1.
    .. [2] B. Williamson and J. Feng, "Efficient nonparametric statistical inference on population
       feature importance using Shapley values", ICML 2020.

    Examples
    --------
    >>> from fctree import SymmetricBoostingRegressor
    >>> from fctree.datasets import make_correlated_linear
    >>> from fctree.inspection import shapley_importance
    >>> X, y = make_correlated_linear(1000, rho=0.8, random_state=0)
    >>> model = SymmetricBoostingRegressor(max_iter=500, max_depth=3)
    >>> result = shapley_importance(model, X, y, random_state=0)
    >>> gain = result.full_score - result.empty_score
    >>> bool(abs(result.importances.sum() - gain) < 1e-9)
    True
    """
    check_method(method)
    study = Study(
        estimator, (X, y, sample_weight),
        method=method, scoring=scoring,
        fractions=(validation_fraction, test_fraction),
        min_iter=min_iter,
        where=(n_jobs, client),
        random_state=random_state,
    )
    members, names = check_groups(groups, study.parts.names)
    check_disjoint(members, names)
    subsets = _choose_subsets(len(names), n_subsets, random_state)
    scores = _SubsetScores(study, subsets, members)
    scores.evaluate(method, verbose)
    values = subsets.weights @ scores.values
    stderr, null_stderr = scores.errors(subsets.sampling_error(scores.values))
    interval = wald(values, stderr, confidence_level, null_stderr, len(study.parts.test))
    return ShapleyResult(
        **study.common_results(names, members, interval),
        method=method,
        scoring=scoring,
        importances=values,
        confidence_level=confidence_level,
        trusted=interval.trusted,
        full_score=float(scores.values[-1]),
        empty_score=float(scores.values[0]),
        subsets=subsets.kept,
        subset_scores=scores.values,
        n_iter=scores.n_iter,
        fit_seconds=scores.seconds,
        exact=subsets.exact,
        warnings=_warnings(study, scores, names, interval),
    )


def _choose_subsets(n_players, n_subsets, random_state):
    limit = _ENUMERATED if n_subsets is None else n_subsets
    if n_players < 2 or (n_players < 31 and 2**n_players <= limit):
        return AllSubsets(n_players)
    return DrawnSubsets(n_players, n_subsets or _DRAWN, draws(random_state))


def _warnings(study, scores, names, interval):
    found = study.warnings()
    if scores.n_unfinished:
        found.append(
            f"{scores.n_unfinished} of {len(scores.values)} subsets' models were still improving "
            "when their rounds ended"
        )
    if np.isinf(interval.stderr).any():
        return [*found, "some values are told apart by one pair of subsets, so their errors are not known: draw more (n_subsets)"]
    return found + doubts(names, interval.trusted, len(study.parts.test))


class _SubsetScores:
    """Scores of the subsets' models, and the influence functions of the values."""

    def __init__(self, study, subsets, members):
        n_subsets, n_players = subsets.kept.shape
        self.study = study
        self.subsets = subsets
        self.masked = ~subsets.kept @ members
        self.values = np.empty(n_subsets)
        self.n_iter = np.zeros(n_subsets, dtype=np.int64)
        self.seconds = np.zeros(n_subsets)
        self.influence = np.zeros((n_players, len(study.parts.test)))
        self.n_unfinished = 0

    def evaluate(self, method, verbose):
        """Compute the scores; the best constant has no cost."""
        last = len(self.values) - 1
        self._add(last, self.study.full_outputs(method))
        found = self.study.evaluate(self.masked[:last], method, verbose=verbose)
        for at, (outputs, cost) in enumerate(found):
            self._add(at, outputs)
            if cost is not None:
                self.n_iter[at], self.seconds[at] = cost.n_iter, cost.seconds
                self.n_unfinished += not cost.stopped_early

    def _add(self, at, outputs):
        self.values[at], influence = self.study.score(self.study.target, outputs)
        self.influence += np.multiply.outer(self.subsets.weights[:, at], influence)
        if at == 0:
            self.empty_influence = influence

    def errors(self, sampling):
        """Standard errors of the values, and those of a comparison on disjoint halves of
        phi_j + v(empty) with v(empty), which are valid at 0 too."""
        target = self.study.target
        stderr = np.hypot(target.error_of_mean(self.influence), sampling)
        shifted = target.error_of_mean(self.influence + self.empty_influence)
        empty = target.error_of_mean(self.empty_influence)
        return stderr, np.hypot(np.sqrt(2.0) * np.hypot(shifted, empty), sampling)
