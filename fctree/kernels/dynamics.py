"""Training of an infinite ensemble by gradient flow, from its kernel alone."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.validation import check_array

from fctree._typing import ArrayLike, FloatArray


def gradient_flow(
    K_train: ArrayLike,
    K_test: ArrayLike,
    y: ArrayLike,
    *,
    learning_rate: float,
    times: ArrayLike,
) -> FloatArray:
    """Predict as an infinite ensemble does during its training.

    The predictions are ``f(v, t) = K(v, X) K^-1 (I - exp(-learning_rate K t)) y``, the full-batch gradient flow
    of half the sum of squared errors from outputs of 0 (Kanoh and Sugiyama 2022, section 4; Lee et al. 2019).
    As t grows they converge to kernel regression without a ridge penalty.

    Parameters
    ----------
    K_train : array-like of shape (n_train, n_train)
        Gram matrix of the training samples.
    K_test : array-like of shape (n_test, n_train)
        Kernel between the samples to predict and the training samples.
    y : array-like of shape (n_train,) or (n_train, n_outputs)
        Targets of the training samples.
    learning_rate : float
        Learning rate, positive.
    times : array-like of shape (n_times,)
        Training times, not negative; ``inf`` is the end of the training. Directions in which the kernel is 0 to
        rounding, such as the difference of two equal samples, never move.

    Returns
    -------
    f : array of shape (n_times, n_test) or (n_times, n_test, n_outputs)

    Raises
    ------
    ValueError
        For inconsistent shapes, a `K_train` that is not symmetric, or negative times.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree.kernels import gradient_flow, tree_ntk
    >>> X, y = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([1.0, -1.0])
    >>> K = tree_ntk(X)
    >>> gradient_flow(K, K, y, learning_rate=0.1, times=[0.0, 1.0, np.inf]).round(2) + 0.0
    array([[ 0.  ,  0.  ],
           [ 0.11, -0.18],
           [ 1.  , -1.  ]])
    """
    K_train = check_array(K_train, dtype=np.float64, input_name="K_train")
    K_test = check_array(K_test, dtype=np.float64, input_name="K_test")
    y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
    n = len(K_train)
    if K_train.shape != (n, n) or K_test.shape[1] != n or len(y) != n:
        raise ValueError(
            f"K_train {K_train.shape}, K_test {K_test.shape} and y {y.shape} do not belong together"
        )
    # Kernels of other programs are symmetric to the rounding of float32.
    if np.abs(K_train - K_train.T).max() > 1e-5 * np.abs(K_train).max():
        raise ValueError("K_train must be symmetric: the kernel of the training samples with themselves")
    if not isinstance(learning_rate, Real) or not 0 < learning_rate < np.inf:
        raise ValueError(f"learning_rate must be positive and finite, got {learning_rate!r}")
    times = np.atleast_1d(np.asarray(times, dtype=np.float64))
    if times.ndim != 1 or np.isnan(times).any() or (times < 0).any():
        raise ValueError(f"times must be a sequence of numbers that are at least 0, got {times}")
    eigenvalues, vectors = eigh(K_train)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    nothing = n * np.finfo(np.float64).eps * max(eigenvalues[-1], np.finfo(np.float64).tiny)
    targets = vectors.T @ y.reshape(n, -1)
    projected = K_test @ vectors
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        rates = -np.expm1(-np.outer(times, learning_rate * eigenvalues)) / eigenvalues
    # In these directions K_test is rounding, which time would multiply.
    rates[:, eigenvalues <= nothing] = 0.0
    f = np.einsum("ij,tj,jk->tik", projected, rates, targets, optimize=True)
    return f[:, :, 0] if y.ndim == 1 else f
