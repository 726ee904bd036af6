"""Kernel ridge with tree kernels on Dask collections."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from fctree._sklearn import fit_context
from fctree._threads import count_threads
from fctree._validation import fitted_whole
from fctree.dask.boosting_base import TargetEncoder, describe, join_labels, lengths_of
from fctree.dask.checks import check_features_part, check_targets_part
from fctree.dask.cluster import client_of_fit, from_parts, gather, threads_here
from fctree.dask.partitions import partition_rows, remember_features, rescale_partitions
from fctree.dask.prediction import HasLocal, PredictsLabels, PredictsTargets
from fctree.dask.tables import PartitionedTable
from fctree.kernel_ridge import TreeNTKClassifier, TreeNTKRegressor
from fctree.kernel_ridge.landmarks import (
    LandmarkSystem,
    draw_candidates,
    draw_landmarks,
    warn_if_singular,
)
from fctree.kernel_ridge.solvers import TreeKernel, checked_conjugate_gradients


@dataclass(frozen=True)
class Problem:
    """Settings that every task shares: the kernel, and the labels of a classifier."""

    kernel: TreeKernel
    classes: np.ndarray | None

    def multiply(self, X, Y, coefficients):
        """K(X, Y) coefficients on the worker's threads."""
        kernel = TreeKernel(**{**vars(self.kernel), "n_jobs": threads_here()})
        return kernel.multiply(X, Y, coefficients)

    def rows(self, part):
        """Features, targets (n, n_outputs) and weights (n, 1) of a part."""
        X = check_features_part(part.X)
        if self.classes is None:
            y = check_targets_part(part.y)
        else:
            y = np.eye(len(self.classes))[np.searchsorted(self.classes, part.y.reshape(-1))]
        column = np.ones((len(X), 1)) if part.weight is None else part.weight[:, np.newaxis]
        return X, y.reshape(len(X), -1), column


def _take(part, rows):
    return check_features_part(part.X)[rows], None if part.weight is None else part.weight[rows]


def _landmark_targets(part, problem, landmarks):
    """K_zx W y of a part."""
    X, y, column = problem.rows(part)
    return problem.multiply(landmarks, X, column * y)


def _landmark_product(part, problem, landmarks, c):
    """K_zx W K_xz c of a part."""
    X, _, column = problem.rows(part)
    fitted = column * problem.multiply(X, landmarks, c)
    return problem.multiply(landmarks, X, fitted)


def _row_product(part, others, problem, vectors):
    """Rows of W^1/2 K W^1/2 v, `vectors` cut as the parts are."""
    X, _, column = problem.rows(part)
    total = np.zeros((len(X), vectors[0].shape[1]))
    for other, v in zip(others, vectors, strict=True):
        if len(v):
            Y, _, weight = problem.rows(other)
            total += problem.multiply(X, Y, np.sqrt(weight) * v)
    return np.sqrt(column) * total


def _roots_and_targets(part, problem):
    X, y, column = problem.rows(part)
    return X, np.sqrt(column), y


class _DaskTreeNTK(HasLocal):
    """Parameters and fit on Dask collections; subclasses are plain estimators too."""

    def __init__(
        self,
        *,
        alpha=1e-8,
        depth=3,
        scale=2.0,
        architecture="perfect",
        solver="nystrom",
        n_components=1000,
        max_iter=1000,
        tol=1e-6,
        categorical_features="from_dtype",
        device="cpu",
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        given = {**locals()}
        super().__init__(**{k: v for k, v in given.items() if k not in ("self", "__class__")})

    @fit_context
    def fit(self, X, y, sample_weight=None):
        """Fit the coefficients.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Categories and missing values are treated as by the plain estimators.
        y : Dask array, series or data frame of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : Dask array or series of shape (n_samples,), default=None

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For ``solver="cholesky"``, and for data that the plain estimators refuse.
        """
        with client_of_fit() as client, fitted_whole(self) as fitted:
            if fitted.solver == "cholesky":
                raise ValueError(
                    "solver='cholesky' needs the whole matrix in one place: use 'nystrom' or 'cg'"
                )
            remember_features(fitted, X)
            table = PartitionedTable(client, fitted, X, impute=True)
            parts = table.read(partition_rows(client, X, y, sample_weight, table=True))
            total = None
            if sample_weight is not None:
                parts, total = rescale_partitions(client, parts)
            described = describe(client, parts, "X", by_class=fitted._classification)
            classes = fitted._learn_targets(described)
            filled = [i for i, description in enumerate(described) if description.n_rows]
            parts, described = [parts[i] for i in filled], [described[i] for i in filled]
            lengths = lengths_of(described)
            fitted._choose_kernel()
            fitted.feature_matrix_ = fitted._fold_errors = None
            n_classes = None if classes is None else len(classes)
            parts = table.encode(parts, lengths, TargetEncoder(classes), n_classes)
            problem = Problem(fitted._fitted_kernel(), classes)
            total = float(sum(lengths)) if total is None else total
            solve = fitted._by_landmarks if fitted.solver == "nystrom" else fitted._by_gradients
            X_fit, coefficients = solve(client, problem, parts, (lengths, total))
            fitted._store(X_fit, coefficients)
        return self

    def _draw_candidates(self, client, parts, lengths, random_state):
        """Rows among which landmarks are sought, and their weights; those of `TreeNTK*`."""
        rows = draw_candidates(sum(lengths), self.n_components, random_state)
        begins = np.cumsum([0, *lengths])
        tasks = []
        for part, begin, end in zip(parts, begins[:-1], begins[1:], strict=True):
            inside = rows[(rows >= begin) & (rows < end)] - begin
            tasks.append(client.submit(_take, part, inside, pure=False))
        X, weights = zip(*gather(client, tasks), strict=True)
        return np.concatenate(X), None if weights[0] is None else np.concatenate(weights)

    def _by_landmarks(self, client, problem, parts, sizes):
        """Solve as `solve_with_landmarks`, with the sums over rows taken where the rows are."""
        lengths, total = sizes
        random_state = check_random_state(self.random_state)
        candidates, weights = self._draw_candidates(client, parts, lengths, random_state)
        landmarks, L, G = draw_landmarks(problem.kernel, candidates, weights, self.n_components,
                                         random_state)
        warn_if_singular(G, self.alpha, self.n_components)
        # The candidates stand for all rows.
        G *= np.sqrt(total / (len(G) if weights is None else weights.sum()))
        n_threads = count_threads(problem.kernel.n_jobs)
        system = LandmarkSystem(L, G, alpha=self.alpha, n_threads=n_threads)
        sent = client.scatter(landmarks, broadcast=True)

        def summed(function, *args):
            return sum(from_parts(client, function, parts, problem, sent, *args))

        solution, self.n_iter_ = system.solve(
            lambda c: summed(_landmark_product, c), summed(_landmark_targets), **self._stopping()
        )
        return landmarks, solution

    def _by_gradients(self, client, problem, parts, sizes):
        """Solve as `solve_by_conjugate_gradients`, a block of rows a task."""
        found = zip(*from_parts(client, _roots_and_targets, parts, problem), strict=True)
        X, roots, targets = (np.concatenate(of) for of in found)
        cuts = np.cumsum(sizes[0])[:-1]

        def multiply(v):
            products = from_parts(client, _row_product, parts, parts, problem, np.split(v, cuts))
            return np.concatenate(products) + self.alpha * v

        solution, self.n_iter_ = checked_conjugate_gradients(multiply, roots * targets, **self._stopping())
        return X, roots * solution


class DaskTreeNTKRegressor(PredictsTargets, _DaskTreeNTK, TreeNTKRegressor):
    """`TreeNTKRegressor` on Dask collections, by landmarks or conjugate gradients.

    Rows stay on the workers; an iteration sends out one vector and adds up one per partition. The landmarks
    are those of `TreeNTKRegressor`, and the coefficients differ by rounding.

    Parameters
    ----------
    alpha, depth, scale, architecture, n_components, max_iter, tol, categorical_features, device, \
verbose, n_jobs, random_state
        As for `TreeNTKRegressor`; threads are the workers' (``nthreads``).
    solver : {"nystrom", "cg"}, default="nystrom"
        ``"cg"`` keeps all rows for prediction, and every worker reads all of them.

    Attributes are those of `TreeNTKRegressor`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fctree.dask import DaskTreeNTKRegressor
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.default_rng(0).normal(size=(400, 4), chunks=(100, 4))
    ...     model = DaskTreeNTKRegressor(n_components=50, alpha=1e-3).fit(X, X[:, 0])
    >>> model.dual_coef_.shape
    (50,)
    """

    _local_class = TreeNTKRegressor
    _classification = False

    def _learn_targets(self, described):
        shapes = {description.target_shape for description in described if description.n_rows}
        if len(shapes) > 1:
            raise ValueError(f"the partitions of y have different shapes: {sorted(shapes)}")
        self._single_target = shapes == {()}

    def _target_columns(self):
        return None if self._single_target else self.dual_coef_.shape[1]


class DaskTreeNTKClassifier(PredictsLabels, _DaskTreeNTK, TreeNTKClassifier):
    """`TreeNTKClassifier` on Dask collections, by landmarks or conjugate gradients.

    One regression per class indicator, solved as in `DaskTreeNTKRegressor` with shared kernel products.
    Partitions may lack classes.

    Parameters
    ----------
    alpha, depth, scale, architecture, solver, n_components, max_iter, tol, categorical_features, \
device, verbose, n_jobs, random_state
        Those of `TreeNTKClassifier`; threads are the workers' (``nthreads``), and `solver` is ``"nystrom"``
        (the default) or ``"cg"``, which keeps all rows for prediction and has every worker read all of them.

    Attributes are those of `TreeNTKClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fctree.dask import DaskTreeNTKClassifier
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.default_rng(0).normal(size=(400, 4), chunks=(100, 4))
    ...     model = DaskTreeNTKClassifier(n_components=50, alpha=1e-3).fit(X, X[:, 0] > 0)
    ...     accuracy = (model.predict(X) == (X[:, 0] > 0)).mean().compute()
    >>> bool(accuracy > 0.9)
    True
    """

    _local_class = TreeNTKClassifier
    _classification = True

    def _learn_targets(self, described):
        self.classes_ = join_labels(described)
        return self.classes_
