"""Symmetric boosting on Dask collections."""

from dataclasses import dataclass

import numpy as np

from fctree._tables.estimators import n_encoded
from fctree._training.samples import Samples
from fctree.dask.boosting_base import DaskBoosting, TargetEncoder
from fctree.dask.cluster import assign, gather, settle
from fctree.dask.prediction import PredictsClasses, PredictsTargets
from fctree.dask.thresholds import find_thresholds
from fctree.symmetric import SymmetricBoostingClassifier, SymmetricBoostingRegressor


class _DaskSymmetricBoosting(DaskBoosting):
    """Fitting on Dask collections; subclasses are plain estimators too."""

    _imputes = False

    def _check_supported(self, eval_sets):
        super()._check_supported(eval_sets)
        if getattr(self, "posterior_samples", 0):
            raise ValueError("posterior_samples must be 0 for a fit on partitions")

    def _training_rows(self, client, partitions, sizes, encode):
        lengths, _ = sizes
        rules = {"max_bins": self._bins(), "seed": self._random_seed}
        found = gather(
            client, find_thresholds(client, partitions, lengths, n_encoded(self), rules)
        )
        self.bin_thresholds_ = [values for block in found for values in block]
        return PlacedRows(partitions, lengths, encode)

    def _evaluation_rows(self, partitions, lengths, encode):
        return PlacedRows(partitions, lengths, encode)


@dataclass
class PlacedSamples(Samples):
    """Samples of one worker, in parts that are the partitions."""

    first: list  # numbers of the parts' first samples among those of all workers

    @property
    def parts(self):
        return self.X

    def native(self, raw):
        return self.X, self.y, self.weight, None, raw, self.first

    def none(self):
        """No samples of the same kind."""
        return PlacedSamples([self.X[0][:0]], self.y[:, :0], None, None, [0])


@dataclass
class Layout:
    """The parts that make samples of partitions: the encoder of targets, and numbers of first rows."""

    encode: TargetEncoder
    first: list

    def samples(self, parts):
        y = np.concatenate([self.encode(part.y) for part in parts], axis=1)
        weight = None
        if parts[0].weight is not None:
            weight = np.concatenate([part.weight for part in parts])
        return PlacedSamples([part.X for part in parts], np.ascontiguousarray(y), weight, None,
                             self.first)


class PlacedRows:
    """Partitions, which stay on the workers that hold them."""

    def __init__(self, partitions, lengths, encode):
        self.partitions = partitions
        self.lengths = lengths
        self.encode = encode
        self.begins = np.cumsum([0, *lengths]).tolist()

    def place(self, client, workers):
        """``(parts, layout)`` of each worker that has any, of these workers or of all."""
        settle(client, self.partitions)  # those that were lost are computed again
        return {
            worker: (
                [self.partitions[i] for i in indices],
                Layout(self.encode, [self.begins[i] for i in indices]),
            )
            for worker, indices in assign(client, self.partitions, self.lengths, workers)
        }


class DaskSymmetricBoostingRegressor(
    PredictsTargets, _DaskSymmetricBoosting, SymmetricBoostingRegressor
):
    """`SymmetricBoostingRegressor` on Dask collections.

    The data stay on the workers. Every level of a tree adds up their histograms of integers, so for any
    partitions the model is identical to that of `SymmetricBoostingRegressor` on all rows; losses agree to
    rounding.

    Parameters and attributes are those of `SymmetricBoostingRegressor`; `fit` says which are not
    supported. Threads are the workers' (``nthreads``), whatever `n_jobs` is.

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


class DaskSymmetricBoostingClassifier(
    PredictsClasses, _DaskSymmetricBoosting, SymmetricBoostingClassifier
):
    """`SymmetricBoostingClassifier` on Dask collections.

    The data stay on the workers. Every level of a tree adds up their histograms of integers, so for any
    partitions the model is identical to that of `SymmetricBoostingClassifier` on all rows; losses agree to
    rounding.

    Parameters and attributes are those of `SymmetricBoostingClassifier`; `fit` says which are not
    supported. Threads are the workers' (``nthreads``), whatever `n_jobs` is.

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
