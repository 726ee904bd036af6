"""Symmetric boosting on Dask collections."""

from dataclasses import dataclass

import numpy as np
from distributed import default_client
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from fctree._native import shards as _shards
from fctree._native.core import LossKind
from fctree._training.progress import progress_listener
from fctree._training.samples import check_directions, unpack_eval_set
from fctree._validation import check_targets, unchanged_on_failure
from fctree.boosting import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from fctree.dask.growth import Growth, ShardedSet
from fctree.dask.history import History, whatever_is_lost
from fctree.dask.partitions import partition_rows, remember_features
from fctree.dask.placement import gather
from fctree.dask.prediction import PredictsClasses, PredictsTargets
from fctree.dask.shard import FitPlan
from fctree.dask.thresholds import find_thresholds


@dataclass(frozen=True)
class Description:
    """What the client knows of a partition: its rows, the shape of one target, either the labels
    or the least targets and the sums, an output each, and which features miss values."""

    n_rows: int
    target_shape: tuple
    labels: np.ndarray | None
    ends: np.ndarray | None
    missing: np.ndarray


def _describe(partition, by_class):
    labels = ends = None
    if by_class:
        labels = np.unique(partition.y)
    elif len(partition):
        y = check_targets(partition.y)
        ends = np.stack([y.min(axis=0), y.sum(axis=0)])
    missing = np.zeros(partition.X.shape[1], dtype=bool)
    if np.isnan(partition.X.min(initial=np.inf)):  # the least of any values with NaN among them
        missing = np.isnan(partition.X).any(axis=0)
    return Description(len(partition), partition.y.shape[1:], labels, ends, missing)


class _DaskBoosting:
    """Fitting and predicting on Dask collections; subclasses are plain estimators too."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, eval_set=None):
        """Grow the trees where the partitions are.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Any partitions, empty ones too, of known or unknown lengths. NaN is a missing value.
            What is not persisted is computed once and held by the workers until the fit is
            done. Arrays in memory are cut into chunks.
        y : Dask array, series or data frame of shape (n_samples,) or (n_samples, n_outputs)
            With the partitions of `X` where lengths are unknown.
        sample_weight : Dask array or series of shape (n_samples,), default=None
        eval_set : tuple (X, y) or (X, y, sample_weight), or list of one, default=None
            Samples to measure `validation_score_` on; ``early_stopping=True`` needs it.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For data as the plain estimators refuse them, partitions that disagree, and what a
            fit on partitions does not have: losses whose leaves are quantiles, `warm_start`,
            `posterior_samples`, early stopping without `eval_set`.
        RuntimeError
            Where workers were lost more often than the fit could be continued.
        """
        with unchanged_on_failure(self):
            self._fit(default_client(), X, y, sample_weight, eval_set)
        return self

    def _check_supported(self, eval_set):
        if self.warm_start:
            raise ValueError("warm_start=True: a fit on partitions cannot be continued")
        if getattr(self, "posterior_samples", 0):
            raise ValueError("posterior_samples must be 0 for a fit on partitions")
        if self.early_stopping and eval_set is None:
            raise ValueError("early_stopping=True needs an eval_set for a fit on partitions")

    def _fit(self, client, X, y, sample_weight, eval_set):
        self._check_supported(eval_set)
        remember_features(self, X)
        partitions = partition_rows(client, X, y, sample_weight)
        described = self._learn_targets(client, partitions)
        lengths = [d.n_rows for d in described]
        loss = self._loss_of_sums()
        self._random_seed = int(
            check_random_state(self.random_state).randint(2**63 - 1, dtype=np.int64)
        )
        rules = {"max_bins": self.max_bins, "seed": self._random_seed}
        found = gather(
            client, find_thresholds(client, partitions, lengths, self.n_features_in_, rules)
        )
        self.bin_thresholds_ = [values for block in found for values in block]
        plan = self._plan(loss, described, sample_weight is not None, eval_set is not None)
        encode = _TargetEncoder(getattr(self, "classes_", None))
        train = ShardedSet("train", partitions, lengths, encode)
        evaluation = None
        if eval_set is not None:
            evaluation = ShardedSet("eval", *self._evaluated(client, eval_set), encode)
        growth = Growth(client, plan, self.bin_thresholds_, (train, evaluation))
        try:
            train_loss, eval_loss, best = self._rounds(growth)
        finally:
            growth.close()
        trees = growth.first(best)
        self._keep(trees, growth.start.baseline, -np.array(train_loss), -np.array(eval_loss), False)

    def _loss_of_sums(self):
        """The core's number of the loss, or ValueError where sums do not make its leaves."""
        loss = LossKind[self._loss_kind()].value
        if not _shards.starts_from_means(loss):
            raise ValueError(
                f"loss={self.loss!r}: its leaves are quantiles, which partitions cannot add up; "
                "use squared_error, poisson, gamma or log_loss"
            )
        return loss

    def _learn_targets(self, client, partitions):
        """What the partitions are like; sets what the targets decide."""
        described = self._describe_all(client, partitions, "X")
        if sum(d.n_rows for d in described) >= 2**40:
            raise ValueError("X has too many samples: at most 2**40 - 1 are supported")
        self._encode_targets(self._target_ends(described), reset=True)
        return described

    def _describe_all(self, client, partitions, name):
        by_class = self._classification
        tasks = [client.submit(_describe, p, by_class, pure=False) for p in partitions]
        described = gather(client, tasks)
        filled = [d for d in described if d.n_rows]
        if not filled:
            raise ValueError(f"{name} has no samples with a positive weight")
        widths = {len(d.missing) for d in filled}
        if widths != {self.n_features_in_}:
            raise ValueError(
                f"X has {self.n_features_in_} features, partitions of {name} {sorted(widths)}"
            )
        shapes = {d.target_shape for d in filled}
        if len(shapes) > 1:
            raise ValueError(f"the partitions of y have different shapes: {sorted(shapes)}")
        return described

    def _target_ends(self, described):
        """All labels; or the least targets and their sums, which are in the loss's domain if all
        targets are."""
        filled = [d for d in described if d.n_rows]
        if self._classification:
            return np.unique(np.concatenate([d.labels for d in filled]))
        least = np.min([d.ends[0] for d in filled], axis=0)
        ends = np.stack([least, np.sum([d.ends[1] for d in filled], axis=0)])
        return ends if filled[0].target_shape else ends[:, 0]

    def _evaluated(self, client, eval_set):
        """The partitions of an evaluation set and their lengths."""
        X, y, weight = unpack_eval_set(eval_set)
        partitions = partition_rows(client, X, y, weight, target_name="y of eval_set")
        described = self._describe_all(client, partitions, "eval_set")
        self._encode_targets(self._target_ends(described), reset=False)
        return partitions, [d.n_rows for d in described]

    def _plan(self, loss, described, weighted, evaluated):
        missing = np.any([d.missing for d in described], axis=0).astype(np.uint8)
        n_cuts = np.array([len(values) for values in self.bin_thresholds_], dtype=np.int64)
        return FitPlan(
            fit="",  # each build of the shards has a name of its own
            loss=loss,
            n_outputs=self.n_outputs_,
            params=self._native_params(self.max_iter),
            n_rows=sum(d.n_rows for d in described),
            shape=(n_cuts, missing),
            ends_infinite=np.array([len(t) > 0 and t[-1] == np.inf for t in self.bin_thresholds_]),
            monotone=check_directions(self, n_outputs=self.n_outputs_),
            weighted=weighted,
            evaluated=evaluated,
        )

    def _rounds(self, growth):
        """Losses before the first round and after each, and how many rounds to keep."""
        history = History(
            self, growth.plan.evaluated, whatever_is_lost(growth, growth.begin, growth.begin)
        )
        with progress_listener(self.verbose, self.max_iter, type(self).__name__) as told:
            while not history.has_ended:
                for losses in whatever_is_lost(growth, growth.grow, growth.grow_anew):
                    if not history.has_ended:
                        history.take(losses)
                        if told is not None:
                            told(history.n_rounds - 1, *losses)
        return history.train_loss, history.eval_loss, history.best_iteration()


class DaskSymmetricBoostingRegressor(PredictsTargets, _DaskBoosting, SymmetricBoostingRegressor):
    """`SymmetricBoostingRegressor` on Dask collections.

    The data stay on the workers. Every level of a tree adds up the workers' histograms, which
    are integers: the model is, byte for byte, that of `SymmetricBoostingRegressor` on all rows in
    one place, whatever the partitions; losses agree to rounding.

    Parameters are those of `SymmetricBoostingRegressor`. Not supported: losses whose leaves are
    quantiles (``"absolute_error"``, ``"huber"``, ``"quantile"``), `warm_start`,
    `posterior_samples`, and early stopping without `eval_set`. Threads are the workers'
    (``nthreads``), whatever `n_jobs` is.

    Attributes are those of `SymmetricBoostingRegressor`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fctree.dask import DaskSymmetricBoostingRegressor
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.default_rng(0).normal(size=(1000, 4), chunks=(250, 4))
    ...     model = DaskSymmetricBoostingRegressor(max_iter=5).fit(X, X[:, 0] ** 2)
    ...     predictions = model.predict(X).compute()
    >>> predictions.shape
    (1000,)
    """

    _local_class = SymmetricBoostingRegressor


class DaskSymmetricBoostingClassifier(PredictsClasses, _DaskBoosting, SymmetricBoostingClassifier):
    """`SymmetricBoostingClassifier` on Dask collections.

    The same model, byte for byte, as `SymmetricBoostingClassifier` grows from all rows in one
    place; see `DaskSymmetricBoostingRegressor` for what is not supported.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fctree.dask import DaskSymmetricBoostingClassifier
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.default_rng(0).normal(size=(1000, 4), chunks=(250, 4))
    ...     y = (X[:, 0] + X[:, 1] > 0).astype(int)
    ...     model = DaskSymmetricBoostingClassifier(max_iter=5).fit(X, y)
    ...     probabilities = model.predict_proba(X).compute()
    >>> probabilities.shape
    (1000, 2)
    """

    _local_class = SymmetricBoostingClassifier


class _TargetEncoder:
    """Targets of a partition as the core takes them, float64 (n_targets, n)."""

    def __init__(self, classes):
        self.classes = classes

    def __call__(self, y):
        if self.classes is None:
            return np.ascontiguousarray(check_targets(y).T)
        return np.searchsorted(self.classes, y).astype(np.float64)[np.newaxis]
