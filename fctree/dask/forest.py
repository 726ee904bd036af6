"""Forests of oblique trees whose trees are grown by many workers."""

from fctree._parameters import fitted_attributes
from fctree._sklearn import fit_context
from fctree._training.progress import ProgressBar
from fctree._validation import draw_seed, fitted_whole
from fctree.dask.cluster import client_of_fit, gather, threads_here
from fctree.dask.partitions import join_partitions, partition_rows, remember_features
from fctree.dask.prediction import AppliesTrees, PredictsClasses, PredictsTargets
from fctree.dask.tables import is_table
from fctree.ensembles import CurvatureForestClassifier, CurvatureForestRegressor
from fctree.ensembles.trees import ObliqueTrees


def _samples(local, rows):
    """The samples of the fit, on the threads of this worker."""
    local.n_jobs = threads_here()
    return local._counted(*local._all_samples(rows.X, rows.y, rows.weight, reset=True))


def _compare_kinds(local, rows):
    """Kinds of trees that the fit has chosen, as attributes, and the trees that were compared."""
    compared = local._compare_kinds(_samples(local, rows))
    return {name: getattr(local, name) for name in ("step_share_", "split_margin_", "residual_trees_")}, compared


def _grow_range(local, rows, found, first, last):
    """Trees of a range, and what the fit learnt of the targets."""
    chosen, compared = found
    vars(local).update(chosen)
    samples = _samples(local, rows)
    trees = local._grow_range(samples, range(first, last), compared, ProgressBar(False))
    return trees, fitted_attributes(local)


def _find_calibration(local, rows, found):
    """Exponent and shifts of the calibrated probabilities of all trees."""
    samples = _samples(local, rows)
    local.trees_ = ObliqueTrees.concatenate([trees for trees, _ in found])
    local._use_out_of_bag(samples)
    return local.exponent_, local.class_shifts_


class _DaskForest(AppliesTrees):
    """Fitting on Dask collections; subclasses are plain estimators too."""

    @fit_context
    def fit(self, X, y, sample_weight=None):
        """Grow the trees, a range of them on each worker.

        Every worker gets all rows, which have to fit in its memory. One of them first chooses the kinds of trees.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
        y : Dask array, series or data frame of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : Dask array or series of shape (n_samples,), default=None

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For data that the plain estimators refuse, and for `warm_start`, `oob_score` and `verbose`.
        """
        with client_of_fit() as client, fitted_whole(self) as fitted:
            for name in ("warm_start", "oob_score", "verbose"):
                if getattr(fitted, name):
                    raise ValueError(f"{name}=True is not supported on Dask")
            remember_features(fitted, X)
            partitions = partition_rows(client, X, y, sample_weight, table=is_table(fitted, X), all_rows=True)
            rows = client.submit(join_partitions, partitions, pure=False)
            fitted._random_seed = draw_seed(fitted.random_state)
            local = fitted._local_class(**fitted.get_params(deep=False))
            local._random_seed = fitted._random_seed
            compared = client.submit(_compare_kinds, local, rows, pure=False)
            n_ranges = max(1, min(fitted.n_estimators, len(client.nthreads())))
            bounds = [fitted.n_estimators * i // n_ranges for i in range(n_ranges + 1)]
            futures = [
                client.submit(_grow_range, local, rows, compared, first, last, pure=False)
                for first, last in zip(bounds[:-1], bounds[1:], strict=True)
            ]
            found = gather(client, futures)
            names = getattr(fitted, "feature_names_in_", None)
            vars(fitted).update(found[0][1])
            if names is not None:
                fitted.feature_names_in_ = names
            fitted.trees_ = ObliqueTrees.concatenate([trees for trees, _ in found])
            if fitted._classification:
                exponent = client.submit(_find_calibration, local, rows, futures, pure=False)
                ((fitted.exponent_, fitted.class_shifts_),) = gather(client, [exponent])
        return self


class DaskCurvatureForestRegressor(PredictsTargets, _DaskForest, CurvatureForestRegressor):
    """`CurvatureForestRegressor` with a range of the trees on each worker.

    The trees are identical to those of `CurvatureForestRegressor`, and so are parameters and attributes.
    `warm_start`, `oob_score` and `verbose` are not supported; workers use their own number of threads (``nthreads``).

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fctree.dask import DaskCurvatureForestRegressor
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.default_rng(0).normal(size=(400, 4), chunks=(100, 4))
    ...     model = DaskCurvatureForestRegressor(n_estimators=4).fit(X, X[:, 0] ** 2)
    >>> model.trees_.n_trees
    4
    """

    _local_class = CurvatureForestRegressor


class DaskCurvatureForestClassifier(PredictsClasses, _DaskForest, CurvatureForestClassifier):
    """`CurvatureForestClassifier` with a range of the trees on each worker.

    The trees are identical to those of `CurvatureForestClassifier`, and so are parameters and attributes.
    `warm_start`, `oob_score` and `verbose` are not supported; workers use their own number of threads (``nthreads``).

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fctree.dask import DaskCurvatureForestClassifier
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.default_rng(0).normal(size=(400, 4), chunks=(100, 4))
    ...     model = DaskCurvatureForestClassifier(n_estimators=4).fit(X, X[:, 0] > 0)
    >>> model.trees_.n_trees
    4
    """

    _local_class = CurvatureForestClassifier
