"""Quantities of the theory of early stopping: kernels of boosted models, when to stop.

With a constant step eps on the mean squared error, boosting and gradient descent follow
``f_{t+1}(x) = f_t(x) - eps / n K(x, X) (f_t(X) - y)``. The stopping threshold balances the
distance of the warm start from the target against the noise fitted by training (Sun and Raskutti,
2025,
section 4.2; Raskutti, Wainwright and Yu, 2014).
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils import check_array

from fctree._threads import count_threads
from fctree._typing import ArrayLike, FloatArray, RandomState
from fctree._validation import check_boosting_features, check_fitted
from fctree.kernels import symmetric_tree_kernel
from fctree.symmetric.base import BaseSymmetricBoosting


def boosting_kernel(
    model: Any,
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    stationary: bool = False,
    n_trees: int = 1000,
    random_state: RandomState = None,
) -> FloatArray:
    """Compute the empirical kernel of a boosted model.

    A tree has the kernel ``k(x, x') = sum_j n / max(n_j, 1) 1[x in j] 1[x' in j]``, with n_j of the n
    samples `X` in leaf j. The kernel of the model is the mean over its trees. With ``stationary=True`` it
    is the mean over all trees of its depth that its thresholds allow, the limit for large
    `random_strength`.

    Parameters
    ----------
    model : fitted SymmetricBoostingRegressor or SymmetricBoostingClassifier
    X : array-like of shape (n_samples, n_features)
        Training samples, with columns replaced if training was continued on such samples.
    Y : array-like of shape (n_y, n_features), default=None
        None means `X`.
    stationary : bool, default=False
        Whether to average over all possible trees instead of those of the model.
    n_trees, random_state
        As for `fctree.kernels.symmetric_tree_kernel`, for ``stationary=True``.

    Returns
    -------
    K : ndarray of shape (n_y, n_samples)
        For `X` alone, K / n has largest eigenvalue 1 and trace at most 2^depth.

    Raises
    ------
    TypeError
        For another model.
    """
    if not isinstance(model, BaseSymmetricBoosting):
        raise TypeError(f"model must be a symmetric boosting model, got {type(model).__name__}")
    check_fitted(model)
    X = check_boosting_features(model, X)
    Y = X if Y is None else check_boosting_features(model, Y)
    if stationary:
        return symmetric_tree_kernel(
            Y,
            X,
            bin_thresholds=model.bin_thresholds_,
            depth=model.max_depth,
            n_trees=n_trees,
            random_state=random_state,
        )
    trees, n_threads = model.trees_, count_threads(model.n_jobs)
    leaves_x = trees.apply(X, n_threads=n_threads)
    leaves_y = leaves_x if Y is X else trees.apply(Y, n_threads=n_threads)
    kernel = np.zeros((len(Y), len(X)))
    for of_x, of_y in zip(leaves_x.T, leaves_y.T, strict=True):
        counts = np.bincount(of_x, minlength=2**trees.depth)
        kernel += (of_y[:, None] == of_x) * (len(X) / counts[of_x])
    return kernel / max(trees.n_trees, 1)


def local_complexity(K: ArrayLike, radius: float) -> float:
    """Compute the local empirical Rademacher complexity ``sqrt(1/n sum_i min(lambda_i, radius^2))``.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel of the training samples; lambda_i are the eigenvalues of K / n.
    radius : float

    Returns
    -------
    complexity : float
    """
    eigenvalues = _spectrum(K)[0]
    radius = np.float64(_positive("radius", radius, zero=True))
    with np.errstate(over="ignore"):  # a radius beyond all eigenvalues
        return float(np.sqrt(np.minimum(eigenvalues, radius**2).sum() / len(eigenvalues)))


def stopping_threshold(
    K: ArrayLike,
    residual: ArrayLike,
    noise_variance: float,
    *,
    step: float,
    max_rounds: int = 10**9,
) -> int:
    """Compute the number of rounds after which the theory stops.

    It is t - 1 for the first t with ``sum_i min(lambda_i, 1 / (eps t)) > n C^2 / (4 e^2 sigma^2 eps^2 t^2)``.
    Here lambda_i are the nonzero eigenvalues of K / n, and ``C^2 = r' K^+ r`` is the squared distance between
    warm start and target in the reproducing kernel Hilbert space.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel of the training samples with replaced columns.
    residual : array-like of shape (n,)
        Target function minus warm start (r) on these samples.
    noise_variance : float
        Variance of the noise (sigma^2), positive.
    step : float
        Step size (eps), positive.
    max_rounds : int, default=10**9

    Returns
    -------
    n_rounds : int
        At most `max_rounds`.

    Raises
    ------
    ValueError
        For inconsistent shapes or values that are not positive.

    References
    ----------
    Z. Sun and G. Raskutti, "Reliable and Scalable Variable Importance Estimation via Warm-start
    and Early Stopping", AISTATS 2025, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree.inspection import stopping_threshold
    >>> stopping_threshold(4 * np.eye(4), np.ones(4), 1.0, step=0.1)
    1
    """
    noise_variance = _positive("noise_variance", noise_variance)
    step = _positive("step", step)
    if not isinstance(max_rounds, Integral) or max_rounds < 1:
        raise ValueError(f"max_rounds must be an integer of at least 1, got {max_rounds!r}")
    max_rounds = min(max_rounds, 2**62)
    eigenvalues, vectors = _spectrum(K)
    n = len(eigenvalues)
    residual = check_array(residual, dtype=np.float64, ensure_2d=False, input_name="residual")
    if residual.shape != (n,):
        raise ValueError(f"residual has shape {residual.shape}, K has {n} rows")
    kept = eigenvalues > n * np.finfo(np.float64).eps * eigenvalues.max(initial=0.0)
    with np.errstate(over="ignore"):
        distance = np.sum((vectors.T @ residual)[kept] ** 2 / (n * eigenvalues[kept]))

    def exceeds(t):
        time = np.float64(step * t)
        with np.errstate(over="ignore", divide="ignore"):
            complexity = np.minimum(eigenvalues[kept], 1.0 / time).sum()
            return complexity > n * distance / (4 * np.e**2 * noise_variance) / time / time

    # The left side times t^2 grows with t: bisection.
    low, high = 0, 1
    while high < max_rounds and not exceeds(high):
        low, high = high, 2 * high
    if high >= max_rounds and not exceeds(max_rounds):
        return int(max_rounds)
    high = min(high, max_rounds)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if exceeds(middle) else (middle, high)
    return int(high - 1)


def _positive(name, value, *, zero=False):
    """The value as a float, or ValueError unless it is positive (or zero) and finite."""
    if not isinstance(value, Real) or not (0 <= value if zero else 0 < value) or value > 1e308:
        raise ValueError(f"{name} must be positive and finite, got {value!r}")
    return float(value)


def _spectrum(K):
    """Eigenvalues of K / n, at least 0, and eigenvectors."""
    K = check_array(K, dtype=np.float64, input_name="K")
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be square, got shape {K.shape}")
    eigenvalues, vectors = eigh(K / len(K))
    return np.maximum(eigenvalues, 0.0), vectors
