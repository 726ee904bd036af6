"""Shared parts of boosting on Dask collections: what is supported, and the targets."""

from dataclasses import dataclass

import numpy as np

from fctree._native.core import Loss
from fctree._training.losses import LOSSES
from fctree._training.progress import progress_listener
from fctree._training.samples import unpack_eval_set
from fctree._validation import check_targets
from fctree.dask.cluster import gather
from fctree.dask.partitions import partition_rows
from fctree.dask.team import TeamFit


@dataclass(frozen=True)
class Description:
    """A partition as the client knows it: its rows and features, the shape of one target, and
    either the labels or the least targets and the sums, one an output."""

    n_rows: int
    n_features: int
    target_shape: tuple
    labels: np.ndarray | None
    ends: np.ndarray | None


def _describe(partition, by_class):
    labels = ends = None
    if by_class:
        labels = np.unique(partition.y)
    elif len(partition):
        y = check_targets(partition.y)
        ends = np.stack([y.min(axis=0), y.sum(axis=0)])
    return Description(*partition.X.shape, partition.y.shape[1:], labels, ends)


class TargetEncoder:
    """Targets of a partition as the core takes them, float64 (n_targets, n)."""

    def __init__(self, classes):
        self.classes = classes

    def __call__(self, y):
        if self.classes is None:
            return np.ascontiguousarray(check_targets(y).T)
        return np.searchsorted(self.classes, y).astype(np.float64)[np.newaxis]


def leaves_are_sums(loss):
    """Whether the starting scores and leaf values of a loss follow from sums over rows."""
    return Loss(loss, 1).leaf_rule == "newton"


class DaskBoosting:
    """Boosting on Dask collections; subclasses are plain estimators too."""

    def _check_supported(self, eval_set):
        if self.warm_start:
            raise ValueError("warm_start=True: a fit on partitions cannot be continued")
        if self.early_stopping and eval_set is None:
            raise ValueError("early_stopping=True needs an eval_set for a fit on partitions")

    def _check_loss(self):
        """Refuses losses that sums do not make the leaves of."""
        if not leaves_are_sums(self._choose_loss()):
            usable = [info.name for info in LOSSES.values() if leaves_are_sums((info.name, 0.5))]
            raise ValueError(
                f"loss={self.loss!r}: its leaves are quantiles, which partitions cannot add up; "
                f"use one of {', '.join(usable)}"
            )

    def _learn_targets(self, client, partitions):
        """The lengths of the partitions; sets what the targets decide."""
        described = self._describe_all(client, partitions, "X")
        if sum(d.n_rows for d in described) >= 2**40:
            raise ValueError("X has too many samples: at most 2**40 - 1 are supported")
        self._encode_targets(self._target_ends(described), reset=True)
        return [d.n_rows for d in described]

    def _describe_all(self, client, partitions, name):
        by_class = self._classification
        tasks = [client.submit(_describe, p, by_class, pure=False) for p in partitions]
        described = gather(client, tasks)
        filled = [d for d in described if d.n_rows]
        if not filled:
            raise ValueError(f"{name} has no samples with a positive weight")
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

    def _fit_together(self, client, train, evaluation):
        """Fits the plain estimator on the rows of all workers, and takes over what it has learnt."""
        local = self.to_local()
        vars(local).pop("trees_", None)  # of an earlier fit
        local.encoder_ = None  # rows on workers are numbers
        fit = TeamFit(client, local, train, evaluation)
        with progress_listener(self.verbose, self.max_iter, type(self).__name__) as listener:
            fit.run(listener)
        vars(self).update({k: v for k, v in vars(local).items() if k not in self.get_params(deep=False)})
