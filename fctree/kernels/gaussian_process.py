"""The tree neural tangent kernel for scikit-learn's Gaussian processes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from fctree._native import matrix as _native
from fctree._typing import ArrayLike, FloatArray
from fctree.kernels.architecture import check_scale, kernel_spec
from fctree.kernels.checks import check_kernel_samples
from fctree.kernels.compute import compute_gram


class TreeNTK(Kernel):
    """Tree neural tangent kernel as a kernel of `sklearn.gaussian_process`.

    Its continuous parameter is `scale`, which `GaussianProcessRegressor` can optimise by the exact
    gradient. Combine it with other kernels as usual: ``ConstantKernel() * TreeNTK() + WhiteKernel()``.

    Parameters
    ----------
    depth : int or inf, default=3
        Depth of the trees, as in `tree_ntk`.
    scale : float, default=2.0
        Initial hardness of the splits.
    scale_bounds : pair of floats or "fixed", default=(1e-2, 1e2)
        Bounds of `scale` in the optimisation.
    architecture : str or mapping, default="perfect"
        As in `tree_ntk`.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless set by a `joblib.parallel_config`, -1 is all cores. Results do
        not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree.kernels import TreeNTK
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> X = np.linspace(-2, 2, 30)[:, None]
    >>> model = GaussianProcessRegressor(TreeNTK(depth=2), alpha=1e-4).fit(X, np.abs(X[:, 0]))
    >>> bool(abs(model.predict([[1.0]])[0] - 1.0) < 0.1)
    True
    """

    def __init__(
        self,
        depth: float = 3,
        scale: float = 2.0,
        scale_bounds: tuple[float, float] | str = (1e-2, 1e2),
        architecture: str | Mapping[int, int] = "perfect",
        n_jobs: int | None = None,
    ) -> None:
        self.depth = depth
        self.scale = scale
        self.scale_bounds = scale_bounds
        self.architecture = architecture
        self.n_jobs = n_jobs

    @property
    def hyperparameter_scale(self) -> Hyperparameter:
        """Hyperparameter that the Gaussian process optimises."""
        return Hyperparameter("scale", "numeric", self.scale_bounds)

    def _gram(self, X, Y, derivative="none"):
        spec = kernel_spec(self.depth, self.architecture, derivative=derivative)
        scale = check_scale(float(self.scale))
        return compute_gram(
            spec, X, Y, scale=scale, device="cpu", out=None, n_jobs=self.n_jobs
        )

    def __call__(
        self,
        X: ArrayLike,
        Y: ArrayLike | None = None,
        eval_gradient: bool = False,
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """The Gram matrix, and its gradient by ``theta`` (the logarithm of the scale).

        Parameters
        ----------
        X : array-like of shape (n_x, n_features)
        Y : array-like of shape (n_y, n_features), default=None
        eval_gradient : bool, default=False
            Only with ``Y=None``.

        Returns
        -------
        K : array of shape (n_x, n_y)
        K_gradient : array of shape (n_x, n_x, 1), or (n_x, n_x, 0) for a fixed scale
            Only if `eval_gradient`.
        """
        if eval_gradient and Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        K = self._gram(X, Y)
        if not eval_gradient:
            return K
        if self.hyperparameter_scale.fixed:
            return K, np.empty((*K.shape, 0))
        return K, self._gram(X, None, "log_scale")[:, :, np.newaxis]

    def diag(self, X: ArrayLike) -> FloatArray:
        """The diagonal of the Gram matrix, without the matrix.

        Parameters
        ----------
        X : array-like of shape (n_x, n_features)

        Returns
        -------
        diagonal : array of shape (n_x,)
        """
        spec = kernel_spec(self.depth, self.architecture)
        X, _ = check_kernel_samples(X, None)
        out = np.empty(len(X), dtype=X.dtype)
        _native.gram_diagonal(spec, X, check_scale(float(self.scale)), out)
        return out

    def is_stationary(self) -> bool:
        """False: the kernel depends on where the samples are."""
        return False

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(depth={self.depth}, scale={self.scale:.3g}, "
            f"architecture={self.architecture!r})"
        )
