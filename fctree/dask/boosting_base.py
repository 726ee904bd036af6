"""Shared parts of boosting on Dask collections: what is supported, and the targets."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import column_or_1d

from fctree._parameters import fitted_attributes
from fctree._sklearn import fit_context
from fctree._tables.targets import plain_targets
from fctree._training.losses import LOSSES, leaves_are_sums, refuse_function
from fctree._training.progress import progress_listener
from fctree._training.round_watch import UNWATCHED
from fctree._training.samples import unpack_eval_sets
from fctree._validation import check_labels, check_targets, draw_seed, fitted_whole
from fctree.dask.cluster import client_of_fit, from_parts
from fctree.dask.distributed_fit import DistributedFit
from fctree.dask.partitions import partition_rows, refuse_other_columns, remember_features, rescale_partitions
from fctree.dask.prediction import AppliesTrees
from fctree.dask.tables import PartitionedTable


@dataclass(frozen=True)
class PartitionSummary:
    """A partition as the client knows it: its rows and features, the shape of one target, and either
    the labels, those of rows of weight 0 too, or `_ends` of the targets."""

    n_rows: int
    n_features: int
    target_shape: tuple
    labels: np.ndarray | None
    ends: np.ndarray | None


def _describe(partition, by_class):
    labels = ends = None
    given = partition.y if partition.y_unused is None else np.concatenate([partition.y, partition.y_unused])
    if by_class:
        y = column_or_1d(given)
        if len(y):
            check_labels(y)
        labels = np.unique(y)
    elif len(given):
        ends = _ends(check_targets(plain_targets(given, numeric=True)), len(partition))
    return PartitionSummary(*partition.X.shape, partition.y.shape[1:], labels, ends)


def _ends(y, n_rows):
    """The least of all targets; the least and the largest of the first `n_rows`, which count."""
    used = y[:n_rows]
    return np.stack([y.min(axis=0), used.min(axis=0, initial=np.inf), used.max(axis=0, initial=-np.inf)])


def lengths_of(described):
    """The rows of each partition."""
    return [d.n_rows for d in described]


def join_labels(described):
    """The labels of all partitions."""
    return np.unique(np.concatenate([d.labels for d in described if len(d.labels)]))


def describe(client, partitions, name, *, by_class):
    """Summaries of partitions; ValueError where none has rows."""
    described = from_parts(client, _describe, partitions, by_class)
    if not any(d.n_rows for d in described):
        raise ValueError(f"{name} has no samples with a positive weight")
    return described


class TargetEncoder:
    """Targets of a partition as the core takes them, float64 (n_targets, n)."""

    def __init__(self, classes):
        self.classes = classes

    def __call__(self, y):
        if self.classes is None:
            return np.ascontiguousarray(check_targets(y).T)
        return np.searchsorted(self.classes, y.reshape(-1)).astype(np.float64)[np.newaxis]


class DaskBoosting(AppliesTrees):
    """Boosting on Dask collections; subclasses are plain estimators too.

    A family says whether it imputes missing numbers and has ``_training_rows`` and
    ``_evaluation_rows``, which know where the rows of a fit are (`DistributedFit`).
    """

    @fit_context
    def fit(self, X, y, sample_weight=None, eval_set=None, *, eval_metric=None, callbacks=None):
        """Grow the trees from sums over the rows that each worker computes for its partitions.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Any partitions, of known or unknown lengths; they may be empty. Data that are not persisted are
            computed once and held by the workers until the fit ends. Arrays in memory are cut into chunks.
            Categories and missing values are treated as by the plain estimators.
        y : Dask array, series or data frame of shape (n_samples,) or (n_samples, n_outputs)
            Targets, with the partitions of `X` if lengths are unknown.
        sample_weight : Dask array or series of shape (n_samples,), default=None
        eval_set : tuple (X, y) or (X, y, sample_weight), or list of one, default=None
            Samples for `validation_score_`; required by ``early_stopping=True``.
        eval_metric, callbacks : None
            Not supported; must be None.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For data that the plain estimators refuse, inconsistent partitions, and features that a fit on
            partitions does not support: losses whose leaves are quantiles and losses given as functions;
            several evaluation sets, `eval_metric` and `callbacks`; early stopping without `eval_set`;
            `warm_start`, `class_weight`, `calibration_fraction` and `posterior_samples`; and nodes of
            oblique trees with fewer samples than features that need a ridge model of their own.
        RuntimeError
            If workers were lost too often to continue the fit.
        """
        for name, value in (("eval_metric", eval_metric), ("callbacks", callbacks)):
            if value is not None:
                raise ValueError(f"{name} is not supported on Dask")
        given = unpack_eval_sets(eval_set)
        if len(given) > 1 or any(initial is not None for *_, initial in given):
            raise ValueError("eval_set with several evaluation sets, or an init_score, is not supported on Dask")
        with client_of_fit() as client, fitted_whole(self) as fitted:
            fitted._fit(client, X, y, sample_weight, given)
        return self

    def _fit(self, client, X, y, sample_weight, eval_sets):
        self._check_supported(eval_sets)
        remember_features(self, X)
        partitions, (lengths, weight), table, spans = self._encoded(client, X, y, sample_weight)
        self._random_seed = draw_seed(self.random_state)
        encode = TargetEncoder(getattr(self, "classes_", None))
        train = self._training_rows(client, partitions, (lengths, weight), encode)
        evaluation = None
        if eval_sets:
            evaluation = self._evaluation_rows(*self._evaluated(client, eval_sets[0], table), encode)
        self._fit_together(client, train, evaluation)
        self._warn_of_rounds(*spans, sum(lengths))

    def _check_supported(self, eval_sets):
        refuse_function(self.loss, "on Dask")
        if self.warm_start:
            raise ValueError("warm_start=True: a fit on partitions cannot be continued")
        for name in ("calibration_fraction", "class_weight"):
            if getattr(self, name, None) is not None:
                raise ValueError(f"{name} is not supported on Dask")
        if self.early_stopping and not eval_sets:
            raise ValueError("early_stopping=True needs an eval_set for a fit on partitions")

    def _check_loss(self):
        """Refuses losses whose leaf values do not follow from sums."""
        if not leaves_are_sums(self._choose_loss()):
            known = self._parameter_constraints["loss"][0].options  # of the task
            usable = [name for name in LOSSES if name in known and leaves_are_sums((name, 0.5))]
            raise ValueError(
                f"loss={self.loss!r}: its leaves are quantiles, which partitions cannot add up; "
                f"use one of {', '.join(usable)}"
            )

    def _learn_targets(self, client, partitions):
        """The lengths of the partitions, and the least and the largest target of each output; sets what the targets decide."""
        described = self._describe_all(client, partitions, "X")
        if sum(lengths_of(described)) >= 2**40:
            raise ValueError("X has too many samples: at most 2**40 - 1 are supported")
        self._encode_targets(self._target_ends(described), reset=True)
        if self._classification:
            spans = np.array([0.0]), np.array([self.n_classes_ - 1.0])
        else:
            ends = [d.ends for d in described if d.n_rows]
            spans = np.min([of[1] for of in ends], axis=0), np.max([of[2] for of in ends], axis=0)
        return lengths_of(described), spans

    def _describe_all(self, client, partitions, name):
        described = describe(client, partitions, name, by_class=self._classification)
        filled = [d for d in described if d.n_rows]
        widths = {d.n_features for d in filled}
        if widths != {self.n_features_in_}:
            raise ValueError(
                f"X has {self.n_features_in_} features, partitions of {name} {sorted(widths)}"
            )
        shapes = {d.target_shape for d in filled}
        if len(shapes) > 1:
            raise ValueError(f"the partitions of y have different shapes: {sorted(shapes)}")
        return described

    def _target_ends(self, described):
        """All labels; or the least and the largest targets, which are in the loss's domain if all are."""
        if self._classification:
            return join_labels(described)
        filled = [d for d in described if d.ends is not None]
        ends = np.stack([np.min([d.ends[0] for d in filled], axis=0), np.max([d.ends[2] for d in filled], axis=0)])
        return ends if filled[0].target_shape else ends[:, 0]

    def _encoded(self, client, X, y, sample_weight):
        """The partitions of a fit with encoded columns, their lengths and the weight of all rows, what encodes them, and the
        targets' least and largest."""
        table = PartitionedTable(client, self, X, impute=self._imputes)
        rows = partition_rows(client, X, y, sample_weight, table=table.is_read)
        partitions = table.read(rows)
        weight = None
        if sample_weight is not None:
            partitions, weight = rescale_partitions(client, partitions)
        lengths, spans = self._learn_targets(client, partitions)
        self._check_loss()
        encode = TargetEncoder(getattr(self, "classes_", None))
        n_classes = self.n_classes_ if self._classification else None
        sizes = lengths, float(sum(lengths)) if weight is None else weight
        return table.encode(partitions, lengths, encode, n_classes), sizes, table, spans

    def _evaluated(self, client, eval_set, table):
        """The partitions of an evaluation set and their lengths."""
        X, y, weight, _ = eval_set
        try:
            refuse_other_columns(self, X)
            rows = partition_rows(client, X, y, weight, target_name="y of eval_set", table=table.is_read)
            partitions = table.read_evaluation(rows)
            described = self._describe_all(client, partitions, "eval_set")
            self._encode_targets(self._target_ends(described), reset=False)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"eval_set[0]: {error}") from error
        return table.encode_evaluation(partitions), lengths_of(described)

    def _fit_together(self, client, train, evaluation):
        """Fits the plain estimator on the rows of all workers, and takes over what it has learnt."""
        local = self.to_local()
        vars(local).pop("trees_", None)  # of an earlier fit
        fit = DistributedFit(client, local, train, evaluation)
        with progress_listener(self.verbose, self.max_iter, type(self).__name__) as listener:
            fit.run(listener)
        vars(self).update(fitted_attributes(local))
        self.evals_result_ = UNWATCHED.results(self, 0)
