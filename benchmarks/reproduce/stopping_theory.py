"""Quantities of the theory of early stopping: kernels of boosted models, when to stop.

With a constant step eps on the mean squared error, boosting and gradient descent follow
``f_{t+1}(x) = f_t(x) - eps / n K(x, X) (f_t(X) - y)``. The stopping threshold balances the
distance of the warm start from the target against the noise fitted by training (Sun and Raskutti,
2025, section 4.2; Raskutti, Wainwright and Yu, 2014). It needs the noise and the target, so it is for
study: `fctree.inspection` stops by validation.
"""

import numpy as np
from fctree.kernels import symmetric_tree_kernel
from scipy.linalg import eigh


def boosting_kernel(model, X, Y=None, *, stationary=False, random_state=None):
    """The empirical kernel of a symmetric boosting model, (n_y, n_samples); None for ``Y`` means ``X``.

    A tree has the kernel ``k(x, x') = sum_j n / max(n_j, 1) 1[x in j] 1[x' in j]``, n_j of the n
    samples `X` in leaf j. The model's kernel is the mean over its trees; with
    ``stationary=True`` over all trees of its depth that its thresholds allow, to which it
    converges as `random_strength` grows. On `X` alone K / n has largest eigenvalue 1 and trace at most 2^depth.
    """
    Y = X if Y is None else Y
    if stationary:
        return symmetric_tree_kernel(
            Y, X, bin_thresholds=model.bin_thresholds_, depth=model.max_depth, random_state=random_state
        )
    kernel = np.zeros((len(Y), len(X)))
    for of_x, of_y in zip(model.apply(X).T, model.apply(Y).T, strict=True):
        counts = np.bincount(of_x)
        kernel += (of_y[:, np.newaxis] == of_x) * (len(X) / counts[of_x])
    return kernel / model.n_iter_


def local_complexity(K, radius):
    """Local empirical Rademacher complexity of a kernel, ``sqrt(1/n sum_i min(lambda_i, radius^2))``.

    lambda_i are the eigenvalues of K / n.
    """
    eigenvalues = _spectrum(K)[0]
    return np.sqrt(np.minimum(eigenvalues, radius**2).mean())


def stopping_threshold(K, residual, noise_variance, *, step, max_rounds=10**9):
    """Number of rounds after which the theory stops, at most `max_rounds`.

    The first t with ``sum_i min(lambda_i, 1 / (eps t)) > n C^2 / (4 e^2 sigma^2 eps^2 t^2)``, less
    1: lambda_i the eigenvalues of K / n that are not 0, ``C^2 = r' K^+ r`` the squared distance between
    warm start and target in the kernel's space, r the ``residual`` (n,) of the target and the warm
    start, eps the ``step``.
    """
    eigenvalues, vectors = _spectrum(K)
    n = len(eigenvalues)
    kept = eigenvalues > n * np.finfo(np.float64).eps * eigenvalues.max()
    distance = np.sum((vectors.T @ residual)[kept] ** 2 / (n * eigenvalues[kept]))

    def exceeds(t):
        complexity = np.minimum(eigenvalues[kept], 1.0 / (step * t)).sum()
        return complexity > n * distance / (4 * np.e**2 * noise_variance * (step * t) ** 2)

    # The left side times t^2 grows with t: bisection.
    low, high = 0, 1
    while high < max_rounds and not exceeds(high):
        low, high = high, 2 * high
    if high >= max_rounds and not exceeds(max_rounds):
        return max_rounds
    high = min(high, max_rounds)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if exceeds(middle) else (middle, high)
    return high - 1


def _spectrum(K):
    """Eigenvalues of K / n, at least 0, and eigenvectors."""
    eigenvalues, vectors = eigh(K / len(K))
    return np.maximum(eigenvalues, 0.0), vectors
