"""Kernel ridge with tree kernels on Dask collections, and Gram matrices as Dask arrays."""

import dask.array as da
import numpy as np
from distributed import default_client
from scipy import linalg
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from fctree import kernels
from fctree._validation import check_kernel_part, unchanged_on_failure
from fctree.dask.partitions import is_dask, partition_rows, remember_features
from fctree.dask.placement import gather
from fctree.dask.prediction import HasLocal
from fctree.dask.state import threads_here
from fctree.kernel_ridge import TreeNTKRegressor
from fctree.kernel_ridge.solvers import (
    TreeKernel,
    conjugate_gradients,
    jittered_factor,
    warn_unless,
)


def _describe(part):
    X, y = check_kernel_part(part.X, part.y)
    return len(X), y.shape[1:], X.shape[1], 0.0 if part.weight is None else part.weight.sum()


def _take(part, rows):
    return check_kernel_part(part.X, part.y)[0][rows]


def _rows(part):
    X, y = check_kernel_part(part.X, part.y)
    column = np.ones((len(X), 1)) if part.weight is None else part.weight[:, np.newaxis]
    return X, y.reshape(len(X), -1), column


def _on(kernel):
    """The kernel with the worker's threads."""
    return TreeKernel(**{**vars(kernel), "n_jobs": threads_here()})


def _landmark_targets(part, kernel, landmarks):
    """K_zx W y of a part."""
    X, y, column = _rows(part)
    return _on(kernel).multiply(landmarks, X, column * y)


def _landmark_product(part, kernel, landmarks, c):
    """K_zx W K_xz c of a part."""
    X, _, column = _rows(part)
    fitted = column * _on(kernel).multiply(X, landmarks, c)
    return _on(kernel).multiply(landmarks, X, fitted)


def _row_product(part, others, kernel, vectors):
    """Rows of W^1/2 K W^1/2 v, `vectors` cut as the parts are."""
    X, _, column = _rows(part)
    total = np.zeros((len(X), vectors[0].shape[1]))
    for other, v in zip(others, vectors, strict=True):
        if len(v):
            Y, _, weight = _rows(other)
            total += _on(kernel).multiply(X, Y, np.sqrt(weight) * v)
    return np.sqrt(column) * total


def _roots_and_targets(part):
    X, y, column = _rows(part)
    return X, np.sqrt(column), y


class DaskTreeNTKRegressor(HasLocal, TreeNTKRegressor):
    """`TreeNTKRegressor` on Dask collections, by landmarks or conjugate gradients.

    Rows stay on the workers; an iteration sends one vector out and adds up one for each
    partition, in order. The landmarks are those of `TreeNTKRegressor`; sums of doubles over
    partitions differ from sums over all rows by rounding, and so do the coefficients.

    Parameters
    ----------
    alpha, depth, scale, architecture, n_components, max_iter, tol, device, verbose, n_jobs, \
random_state
        As for `TreeNTKRegressor`; threads are the workers' (``nthreads``).
    solver : {"nystrom", "cg"}, default="nystrom"
        ``"cg"`` keeps all rows for prediction and lets every worker read all of them.

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
        device="cpu",
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        super().__init__(
            alpha=alpha,
            depth=depth,
            scale=scale,
            architecture=architecture,
            solver=solver,
            n_components=n_components,
            max_iter=max_iter,
            tol=tol,
            device=device,
            verbose=verbose,
            n_jobs=n_jobs,
            random_state=random_state,
        )

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the coefficients.

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
            For ``solver="cholesky"``, and for data as `TreeNTKRegressor` refuses them.
        """
        with unchanged_on_failure(self):
            if self.solver == "cholesky":
                raise ValueError(
                    "solver='cholesky' needs the whole matrix in one place: use 'nystrom' or 'cg'"
                )
            client = default_client()
            remember_features(self, X)
            parts = partition_rows(client, X, y, sample_weight)
            described = gather(client, [client.submit(_describe, p, pure=False) for p in parts])
            filled = [i for i, (n, *_) in enumerate(described) if n]
            if not filled:
                raise ValueError("X has no samples with a positive weight")
            parts = [parts[i] for i in filled]
            lengths = [described[i][0] for i in filled]
            self._one_output = described[filled[0]][1] == ()
            total = sum(described[i][3] for i in filled) or float(sum(lengths))
            solve = self._by_landmarks if self.solver == "nystrom" else self._by_gradients
            X_fit, coefficients = solve(client, parts, lengths, total)
            self._store(X_fit, coefficients)
        return self

    def _stopping(self):
        return {"tol": self.tol, "max_iter": self.max_iter, "verbose": self.verbose}

    def _draw_landmarks(self, client, parts, lengths):
        n = sum(lengths)
        rows = np.arange(n)
        if self.n_components < n:
            rows = check_random_state(self.random_state).choice(
                rows, self.n_components, replace=False
            )
        begins = np.concatenate([[0], np.cumsum(lengths)])
        tasks = []
        for part, begin, end in zip(parts, begins[:-1], begins[1:], strict=True):
            inside = np.sort(rows[(rows >= begin) & (rows < end)]) - begin
            tasks.append(client.submit(_take, part, inside, pure=False))
        return np.unique(np.concatenate(gather(client, tasks)), axis=0)

    def _by_landmarks(self, client, parts, lengths, total):
        """As `solve_with_landmarks`, with the sums over rows taken where the rows are."""
        kernel = self._fitted_kernel()
        landmarks = self._draw_landmarks(client, parts, lengths)
        sent = client.scatter(landmarks, broadcast=True)
        K = kernel.gram(landmarks)
        T = jittered_factor(K)
        A = jittered_factor(T @ T.T * (total / len(landmarks)), self.alpha)

        def summed(function, *args):
            tasks = [client.submit(function, p, kernel, sent, *args, pure=False) for p in parts]
            return sum(gather(client, tasks))

        def outward(v):
            return linalg.solve_triangular(T, linalg.solve_triangular(A, v))

        def inward(v):
            half = linalg.solve_triangular(T, v, trans="T")
            return linalg.solve_triangular(A, half, trans="T")

        def multiply(v):
            c = outward(v)
            return inward(summed(_landmark_product, c) + self.alpha * (K @ c))

        b = inward(summed(_landmark_targets))
        solution, self.n_iter_, converged = conjugate_gradients(multiply, b, **self._stopping())
        warn_unless(converged, self.n_iter_)
        return landmarks, outward(solution)

    def _by_gradients(self, client, parts, lengths, total):
        """As `solve_by_conjugate_gradients`, a block of rows a task."""
        kernel = self._fitted_kernel()
        tasks = [client.submit(_roots_and_targets, p, pure=False) for p in parts]
        X, roots, targets = (np.concatenate(of) for of in zip(*gather(client, tasks), strict=True))
        cuts = np.cumsum(lengths)[:-1]

        def multiply(v):
            vectors = np.split(v, cuts)
            tasks = [
                client.submit(_row_product, p, parts, kernel, vectors, pure=False) for p in parts
            ]
            return np.concatenate(gather(client, tasks)) + self.alpha * v

        solution, self.n_iter_, converged = conjugate_gradients(
            multiply, roots * targets, **self._stopping()
        )
        warn_unless(converged, self.n_iter_)
        return X, roots * solution

    def predict(self, X):
        """Predict the targets; lazily, where `X` is a Dask collection, as a Dask collection."""
        columns = None if self._one_output else self.dual_coef_.shape[1]
        return self._predicts("predict", X, columns, np.float64)


def tree_ntk(X, Y=None, **parameters):
    """The Gram matrix of a tree kernel as a Dask array, a task a block.

    Parameters
    ----------
    X : Dask array of shape (n_x, n_features)
    Y : Dask array of shape (n_y, n_features), default=None
        None is `X`.
    **parameters
        ``depth``, ``scale``, ``architecture``, ``device`` and ``n_jobs`` as in
        `fctree.kernels.tree_ntk`.

    Returns
    -------
    K : Dask array of shape (n_x, n_y)
        Chunked by the rows of both; ``to_zarr`` and ``to_hdf5`` write it without ever holding it.

    Raises
    ------
    TypeError
        For anything but Dask arrays.
    """
    Y = X if Y is None else Y
    for array, name in ((X, "X"), (Y, "Y")):
        if not is_dask(array) or getattr(array, "ndim", 0) != 2 or not hasattr(array, "chunks"):
            raise TypeError(f"{name} must be a Dask array of two dimensions, got {type(array)}")
    X, Y = X.rechunk({1: -1}), Y.rechunk({1: -1})
    return da.blockwise(
        _gram_block, "ij", X, "ik", Y, "jk", parameters=parameters, concatenate=True,
        dtype=np.result_type(X.dtype, Y.dtype, np.float32), meta=np.empty((0, 0)),
    )


def _gram_block(X, Y, parameters):
    return kernels.tree_ntk(X, Y, **parameters)
