"""Boosting of oblique trees on Dask collections."""

import numpy as np
from distributed import default_client
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from fctree._validation import unchanged_on_failure
from fctree.dask.boosting_base import DaskBoosting, TargetEncoder
from fctree.dask.oblique_growth import ObliqueGrowth
from fctree.dask.oblique_set import ObliqueSet
from fctree.dask.oblique_shard import ObliquePlan
from fctree.dask.partitions import partition_rows, remember_features
from fctree.dask.prediction import PredictsClasses, PredictsTargets
from fctree.ensembles import CurvatureBoostingClassifier, CurvatureBoostingRegressor

# Rows that one worker looks for thresholds in: all, of no more.
_SAMPLE_ROWS = 65_536


def sample_rows(n_rows, seed):
    """Numbers of the rows that thresholds are looked for in: one of each of many stretches."""
    if n_rows <= _SAMPLE_ROWS:
        return np.arange(n_rows)
    bounds = n_rows * np.arange(_SAMPLE_ROWS + 1) // _SAMPLE_ROWS
    return np.random.default_rng(seed).integers(bounds[:-1], bounds[1:])


class _DaskObliqueBoosting(DaskBoosting):
    """Fitting on Dask collections; subclasses are plain estimators too."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, eval_set=None):
        """Grow the trees from sums over the rows, which are taken where the rows are.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Any partitions, empty ones too, of known or unknown lengths; finite numbers. What is
            not persisted is computed once and held by the workers until the fit is done. Arrays
            in memory are cut into chunks.
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
            early stopping without `eval_set`, and nodes with fewer samples than features that
            need a ridge model of their own.
        RuntimeError
            Where workers were lost more often than the fit could be continued.
        """
        with unchanged_on_failure(self):
            self._fit(default_client(), X, y, sample_weight, eval_set)
        return self

    def _fit(self, client, X, y, sample_weight, eval_set):
        self._check_supported(eval_set)
        remember_features(self, X)
        partitions = partition_rows(client, X, y, sample_weight)
        lengths = [d.n_rows for d in self._learn_targets(client, partitions)]
        n_rows = sum(lengths)
        loss = self._loss_of_sums()
        self._random_seed = int(
            check_random_state(self.random_state).randint(2**63 - 1, dtype=np.int64)
        )
        plan = ObliquePlan(
            fit="",
            loss=loss,
            n_outputs=self.n_outputs_,
            n_rows=n_rows,
            params=self._native_params(self.max_iter),
            evaluated=eval_set is not None,
        )
        encode = TargetEncoder(getattr(self, "classes_", None))
        rows = sample_rows(n_rows, self._random_seed)
        train = ObliqueSet("train", client, partitions, lengths, encode, rows)
        evaluation = None
        if eval_set is not None:
            held = self._evaluated(client, eval_set)
            evaluation = ObliqueSet("eval", client, *held, encode, np.arange(0))
        kinds = self._kinds(n_rows)
        growth = ObliqueGrowth(client, plan, kinds, (train, evaluation))
        try:
            train_loss, eval_loss, best = self._rounds(growth)
        finally:
            growth.close()
        self._keep(
            growth.first(best),
            np.array(growth.chosen[:best], dtype=np.int64),
            (growth.start.baseline, growth.kinds[0]["alpha"]),
            (-np.array(train_loss), -np.array(eval_loss)),
            False,
        )


class DaskCurvatureBoostingRegressor(PredictsTargets, _DaskObliqueBoosting, CurvatureBoostingRegressor):
    """`CurvatureBoostingRegressor` on Dask collections.

    The data stay on the workers. A level of a tree is grown from sums over the rows of its nodes
    (moments, also between the thresholds of each direction), joined in an order that does not
    depend on where the rows are: the model is the same, byte for byte, for any partitions and
    any number of workers. It is that of `CurvatureBoostingRegressor` up to rounding where the places
    to cut at are the same: these are looked for in a sample of 65,536 rows (all, of fewer), and
    trees with constant leaves cut between 256 bins of a feature at most.

    Parameters are those of `CurvatureBoostingRegressor`. Not supported: losses whose leaves are
    quantiles (``"absolute_error"``, ``"huber"``, ``"quantile"``), `warm_start`, `init_score`,
    early stopping without `eval_set`, and nodes with fewer samples than features that need a
    ridge model. Threads are the workers' (``nthreads``), whatever `n_jobs` is.

    Attributes are those of `CurvatureBoostingRegressor`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fctree.dask import DaskCurvatureBoostingRegressor
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.default_rng(0).normal(size=(1000, 4), chunks=(250, 4))
    ...     model = DaskCurvatureBoostingRegressor(max_iter=3).fit(X, X[:, 0] ** 2)
    ...     predictions = model.predict(X).compute()
    >>> predictions.shape
    (1000,)
    """

    _local_class = CurvatureBoostingRegressor


class DaskCurvatureBoostingClassifier(PredictsClasses, _DaskObliqueBoosting, CurvatureBoostingClassifier):
    """`CurvatureBoostingClassifier` on Dask collections.

    See `DaskCurvatureBoostingRegressor` for how it is grown and what is not supported.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fctree.dask import DaskCurvatureBoostingClassifier
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.default_rng(0).normal(size=(1000, 4), chunks=(250, 4))
    ...     y = (X[:, 0] * X[:, 1] > 0).astype(int)
    ...     model = DaskCurvatureBoostingClassifier(max_iter=3).fit(X, y)
    ...     probabilities = model.predict_proba(X).compute()
    >>> probabilities.shape
    (1000, 2)
    """

    _local_class = CurvatureBoostingClassifier
