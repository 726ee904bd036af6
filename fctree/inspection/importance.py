"""Variable importance: how much worse predictions get without a group of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fctree._sklearn import validate_params
from fctree._typing import ArrayLike, RandomState
from fctree.inspection.groups import check_groups
from fctree.inspection.intervals import doubts, wald
from fctree.inspection.results import ImportanceResult
from fctree.inspection.study import STUDY_CONSTRAINTS, Study, check_method


@validate_params({**STUDY_CONSTRAINTS, "sample_splitting": ["boolean"]})
def variable_importance(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: Mapping[str, Sequence[int | str]] | Sequence[Any] | None = None,
    method: str = "early_stopping",
    validation_fraction: float = 0.25,
    test_fraction: float = 0.25,
    scoring: str = "neg_mean_squared_error",
    confidence_level: float = 0.95,
    sample_splitting: bool = False,
    min_iter: int = 10,
    verbose: int = 0,
    n_jobs: int | None = None,
    client: Any = None,
    random_state: RandomState = None,
) -> ImportanceResult:
    """Estimate the importance of features by comparing models with and without them.

    The importance of a group of features is the score of a model with all features minus the score
    of a model without the group, whose columns are replaced by their training means, or by missing values
    where the estimator takes them for categories. There are three ways to compute the second model [1]_:

    - ``"early_stopping"``: continue training the first model with the columns replaced (warm
      start) until its validation loss no longer falls, at a fraction of the cost of a new model.
      Training of the first model is continued in the same way with nothing replaced, so that both
      get further rounds.
    - ``"dropout"``: the first model unchanged. It needs no training, but overestimates the importance
      of correlated features.
    - ``"retrain"``: a new model.

    Data splits and evaluation are the same for all methods, so results for the same `random_state`
    can be compared.

    Parameters
    ----------
    estimator : estimator or WarmStartModel
        With ``method="retrain"`` or ``"dropout"`` any estimator. Otherwise a model whose training can be
        continued: `SymmetricBoostingRegressor` and `SymmetricBoostingClassifier` (all groups share one
        binned matrix), `TreeNTKRegressor` (gradient flow of its kernel), scikit-learn's `MLPRegressor` and
        `MLPClassifier`, other estimators with `partial_fit` or with `warm_start` and `n_estimators` or
        `max_iter`, or a `WarmStartModel`. It is cloned and trained with early stopping by its own
        `max_iter`, `n_iter_no_change` and `tol`. Classifiers need `predict_proba`.
    X : array-like of shape (n_samples, n_features)
        Numbers, and for estimators of fctree text and categories as in `fit`. NaN is allowed if the estimator
        accepts it.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Targets or class labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights in training and in the scores; samples of weight 0 are ignored.
    groups : sequence of columns or of lists of them, or mapping of names to such, default=None
        Columns by index or name; groups may overlap. None is one group per feature.
    method : {"early_stopping", "dropout", "retrain"}, default="early_stopping"
        Way to compute the models without a group, see above.
    validation_fraction : float or int, default=0.25
        Share or number of the samples outside the test part that are used for early stopping.
    test_fraction : float or int, default=0.25
        Share or number of the samples used for the scores.
    scoring : str, default="neg_mean_squared_error"
        ``"neg_mean_squared_error"`` (for classes the Brier score), ``"neg_root_mean_squared_error"``, ``"r2"``,
        ``"neg_mean_poisson_deviance"`` or ``"neg_mean_gamma_deviance"``, for which all predictions have to be positive;
        ``"neg_brier_score"``, ``"accuracy"``, ``"neg_log_loss"`` or ``"roc_auc"``.
    confidence_level : float, default=0.95
        Level of the confidence intervals.
    sample_splitting : bool, default=False
        Evaluate the two models on disjoint halves of the test part. The interval is longer, but also
        valid if the importance is 0.
    min_iter : int, default=10
        Minimum number of further rounds. Boosting with much noise and many features needs more to find a
        useful feature.
    verbose : int, default=0
        1 shows a progress bar.
    n_jobs : int or None, default=None
        Number of threads, or of groups processed at a time; None is 1 unless set by a
        `joblib.parallel_config`, -1 is all cores. Results do not depend on it.
    client : distributed.Client or None, default=None
        Dask cluster whose workers train the models; a worker runs as many tasks as it has threads, whatever
        `n_jobs` is. Results depend neither on it nor on lost workers.
    random_state : int, RandomState instance or None, default=None
        Seed of the data split, and of the estimator, or estimators within it, without a seed of their own.

    Returns
    -------
    result : ImportanceResult
        Importances, standard errors, confidence intervals, p-values and more, in the order of the groups.

    Raises
    ------
    ValueError
        For categories that the estimator does not take, groups that are empty or name unknown features, parts
        of the data that lack a class, a score that does not fit the targets, or an estimator whose training
        cannot be continued although `method` needs it.
    TypeError
        If `estimator` is not an estimator or `client` not a client.
    RuntimeError
        If workers of the `client` are lost repeatedly.

    Notes
    -----
    A group may contain all features: the model without them is the best constant. The importance
    of a constant feature is about 0.

    References
    ----------
    .. [1] Z. Sun and G. Raskutti, "Reliable and Scalable Variable Importance Estimation via
       Warm-start and Early Stopping", AISTATS 2025.

    Examples
    --------
    >>> from fctree import SymmetricBoostingRegressor
    >>> from fctree.datasets import make_correlated_linear
    >>> from fctree.inspection import variable_importance
    >>> X, y, truth = make_correlated_linear(
    ...     1000, rho=0.5, random_state=0, return_importances=True
    ... )
    >>> model = SymmetricBoostingRegressor(max_iter=500, max_depth=3)
    >>> result = variable_importance(model, X, y, random_state=0)
    >>> bool(abs(result.importances[0] - truth[0]) < 0.3)
    True
    """
    check_method(method)
    study = Study(
        estimator,
        (X, y, sample_weight),
        method=method,
        scoring=scoring,
        fractions=(validation_fraction, test_fraction),
        min_iter=min_iter,
        where=(n_jobs, client),
        random_state=random_state,
    )
    members, names = check_groups(groups, study.parts.names)
    comparison = _Comparison(study, method, sample_splitting)
    found = [
        (*comparison.importance(outputs), cost)
        for outputs, cost in study.evaluate(members, method, verbose=verbose)
    ]
    values, scores, stderr, null_stderr, costs = (list(column) for column in zip(*found))
    values, stderr, null_stderr = map(np.array, (values, stderr, null_stderr))
    n_judging = len(study.parts.test) // (2 if sample_splitting else 1)
    interval = wald(values, stderr, confidence_level, null_stderr, n_judging, valid_at_0=sample_splitting)
    return ImportanceResult(
        **study.common_results(names, members, interval),
        method=method,
        scoring=scoring,
        importances=values,
        confidence_level=confidence_level,
        trusted=interval.trusted,
        n_iter=np.array([0 if cost is None else cost.n_iter for cost in costs]),
        fit_seconds=np.array([0.0 if cost is None else cost.seconds for cost in costs]),
        scores=np.array(scores),
        full_score=comparison.full_score,
        sample_splitting=sample_splitting,
        warnings=_warnings(study, names, costs, interval.trusted, n_judging),
    )


def _warnings(study, names, costs, trusted, n_judging):
    found = study.warnings()
    unfinished = [
        name
        for name, cost in zip(names, costs, strict=True)
        if cost is not None and not cost.stopped_early
    ]
    if unfinished:
        found.append(
            "models still improving when their rounds ended, whose importance is too large: "
            + ", ".join(unfinished)
        )
    return found + doubts(names, trusted, n_judging, " (those of sample_splitting=True hold)")


# Of the squared error of scores of disjoint halves, what the test adds to that of the same samples: for the difference of
# the two models' own errors at 0, larger where they share no training (docs/algorithms/importance.md).
_SHARE_OF_HALVES = {"early_stopping": 0.1, "dropout": 0.1, "retrain": 0.2}


class _Comparison:
    """Scores of reduced models compared with that of the full one."""

    def __init__(self, study, method, sample_splitting):
        self.study = study
        self.share = _SHARE_OF_HALVES[method]
        self.target = study.target
        self.outputs = study.full_outputs(method)
        self.halves = None
        self.full_score, self.full_influence = study.score(self.target, self.outputs)
        self.full_error = self.target.error_of_mean(self.full_influence)
        if sample_splitting:
            # The test part's rows are in the order of the data: every other one.
            rows = np.arange(len(study.parts.test))
            if len(rows) < 4:
                raise ValueError(
                    f"sample_splitting=True needs 4 test samples at least, got {len(rows)}: raise test_fraction"
                )
            self.halves = rows[::2], rows[1::2]
            self.full_score, self.full_error = self._score(self.outputs, self.halves[0])

    def _score(self, outputs, rows):
        target = self.target.take(rows)
        value, influence = self.study.score(target, outputs[rows])
        return value, target.error_of_mean(influence)

    def importance(self, outputs):
        """(importance, score without the group, standard error, standard error valid at 0)."""
        if self.halves is not None:
            score, error = self._score(outputs, self.halves[1])
            stderr = np.hypot(self.full_error, error)
            return self.full_score - score, score, stderr, stderr
        score, influence = self.study.score(self.target, outputs)
        stderr = self.target.error_of_mean(self.full_influence - influence)
        # Halves of the samples: twice the variance of each score.
        halves = np.sqrt(2.0) * np.hypot(self.full_error, self.target.error_of_mean(influence))
        null = np.hypot(stderr, np.sqrt(self.share) * halves)
        return self.full_score - score, score, stderr, null
