"""Simulated regressions of two papers.

`make_ridge_relu` and `make_ridge_exp` are the designs sim1 and sim2 of the FC-ODT paper
(section 7.1): sums of ridge functions g(a'x), the class of functions covered by the theory of
oblique trees. `make_correlated_linear` is the linear design with two correlated
features on which the paper on warm-start variable importance checks its estimates, the
truth being known in closed form.
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from fctree._parameters import shares_documentation
from fctree._sklearn import Interval, validate_params
from fctree._typing import ArrayLike, FloatArray, RandomState

# Columns averaged by the five ridge functions of sim1 and sim2.
_RIDGE_COLUMNS = ((0,), (1, 2), (3, 4, 5), (6, 7, 8, 9), (0, 2, 4, 6, 8))
_N_RIDGE_FEATURES = 10

_RIDGE_CONSTRAINTS = {
    "n_samples": [Interval(Integral, 1, None, closed="left")],
    "n_features": [Interval(Integral, _N_RIDGE_FEATURES, None, closed="left")],
    "noise": [Interval(Real, 0.0, None, closed="left")],
    "random_state": ["random_state"],
    "return_truth": ["boolean"],
}


@validate_params(_RIDGE_CONSTRAINTS)
def make_ridge_relu(
    n_samples: int = 2000,
    n_features: int = 10,
    *,
    noise: float = 0.1,
    random_state: RandomState = None,
    return_truth: bool = False,
) -> tuple[FloatArray, ...]:
    """Sum of five ReLU ridge functions (sim1 of the FC-ODT paper).

    The features are uniform on [-1, 1] and ::

        f(x) = g(x1) + g((x2 + x3) / 2) + g((x4 + x5 + x6) / 3)
             + g((x7 + x8 + x9 + x10) / 4) + g((x1 + x3 + x5 + x7 + x9) / 5)

    with g(t) = max(t, 0) and the features counted from 1; y is f(x) plus normal noise.
    Features beyond the tenth carry no information.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples, at least 1.
    n_features : int, default=10
        Number of features, at least 10.
    noise : float, default=0.1
        Standard deviation of the noise, in the units of y; at least 0.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.
    return_truth : bool, default=False
        Return f(x) as well.

    Returns
    -------
    X : array of shape (n_samples, n_features), float64
    y : array of shape (n_samples,), float64
    f : array of shape (n_samples,), float64
        The noiseless function; only with ``return_truth=True``.

    Raises
    ------
    ValueError
        If a parameter is out of its range (`InvalidParameterError`).

    References
    ----------
    S.-H. Lyu, Y.-X. He, Y. Wang, Z. Qu, B. Tang and B. Ye, "Enhance Learning Efficiency
    of Oblique Decision Tree via Feature Concatenation", arXiv:2502.00465, 2025,
    section 7.1.

    Examples
    --------
    >>> from fctree.datasets import make_ridge_relu
    >>> X, y, f = make_ridge_relu(100, random_state=0, return_truth=True)
    >>> X.shape, y.shape, f.shape
    ((100, 10), (100,), (100,))
    >>> bool((f >= 0).all())
    True
    """
    return _ridge_sum(
        lambda t: np.maximum(t, 0.0),
        n_samples,
        n_features,
        noise,
        random_state,
        return_truth,
    )


@shares_documentation(make_ridge_relu)
@validate_params(_RIDGE_CONSTRAINTS)
def make_ridge_exp(
    n_samples: int = 2000,
    n_features: int = 10,
    *,
    noise: float = 0.1,
    random_state: RandomState = None,
    return_truth: bool = False,
) -> tuple[FloatArray, ...]:
    """Sum of five exponential ridge functions (sim2 of the FC-ODT paper).

    The features are uniform on [-1, 1] and ::

        f(x) = g(x1) + g((x2 + x3) / 2) + g((x4 + x5 + x6) / 3)
             + g((x7 + x8 + x9 + x10) / 4) + g((x1 + x3 + x5 + x7 + x9) / 5)

    with g(t) = exp(t) and the features counted from 1; y is f(x) plus normal noise.
    Features beyond the tenth carry no information.

    Parameters
    ----------
    n_samples, n_features, noise, return_truth
        As in `make_ridge_relu`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws. The same seed gives the same X as in `make_ridge_relu`.

    Returns
    -------
    X, y, f
        As in `make_ridge_relu`.

    Raises
    ------
    ValueError
        If a parameter is out of its range (`InvalidParameterError`).

    References
    ----------
    S.-H. Lyu, Y.-X. He, Y. Wang, Z. Qu, B. Tang and B. Ye, "Enhance Learning Efficiency
    of Oblique Decision Tree via Feature Concatenation", arXiv:2502.00465, 2025,
    section 7.1.

    Examples
    --------
    >>> from fctree.datasets import make_ridge_exp
    >>> X, y = make_ridge_exp(100, n_features=20, random_state=0)
    >>> X.shape, y.shape
    ((100, 20), (100,))
    """
    return _ridge_sum(np.exp, n_samples, n_features, noise, random_state, return_truth)


def _ridge_sum(g, n_samples, n_features, noise, random_state, return_truth):
    random_state = check_random_state(random_state)
    X = random_state.uniform(-1.0, 1.0, size=(n_samples, n_features))
    f = sum(g(X[:, columns].mean(axis=1)) for columns in _RIDGE_COLUMNS)
    y = f + noise * random_state.standard_normal(n_samples)
    return (X, y, f) if return_truth else (X, y)


@validate_params({
    "n_samples": [Interval(Integral, 1, None, closed="left")],
    "rho": [Interval(Real, -1.0, 1.0, closed="both")],
    "coef": ["array-like"],
    "noise": [Interval(Real, 0.0, None, closed="left")],
    "random_state": ["random_state"],
    "return_importances": ["boolean"],
})
def make_correlated_linear(
    n_samples: int = 5000,
    *,
    rho: float = 0.5,
    coef: ArrayLike = (1.5, 1.2, 1.0, 0.0, 0.0, 0.0),
    noise: float = 0.1,
    random_state: RandomState = None,
    return_importances: bool = False,
) -> tuple[FloatArray, ...]:
    """Linear regression whose first two features are correlated.

    The features are standard normal, the first two with correlation `rho`, the others independent; y is
    ``X @ coef`` plus normal noise. The importance of feature j is the increase of the smallest possible
    mean squared error without it, ::

        VI_j = coef_j^2 var(x_j | other features)

    which is ``coef_j^2 (1 - rho^2)`` for the first two features and ``coef_j^2`` for the
    others.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of samples, at least 1.
    rho : float, default=0.5
        Correlation of the first two features, in [-1, 1].
    coef : array-like of shape (n_features,), default=(1.5, 1.2, 1.0, 0.0, 0.0, 0.0)
        Coefficients, at least two, finite.
    noise : float, default=0.1
        Standard deviation of the noise, in the units of y; at least 0.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.
    return_importances : bool, default=False
        Return the true importances as well.

    Returns
    -------
    X : array of shape (n_samples, n_features), float64
    y : array of shape (n_samples,), float64
    importances : array of shape (n_features,), float64
        True importances, in the units of y squared; only with
        ``return_importances=True``.

    Raises
    ------
    ValueError
        If a parameter is out of its range (`InvalidParameterError`), or `coef` is not a
        vector of at least two finite numbers.

    References
    ----------
    Z. Sun and G. Raskutti, "Reliable and Scalable Variable Importance Estimation via
    Warm-start and Early Stopping", Proceedings of the 28th International Conference on
    Artificial Intelligence and Statistics, PMLR 258, 2025.

    Examples
    --------
    >>> from fctree.datasets import make_correlated_linear
    >>> X, y, importances = make_correlated_linear(
    ...     100, rho=0.5, random_state=0, return_importances=True
    ... )
    >>> importances.round(4).tolist()
    [1.6875, 1.08, 1.0, 0.0, 0.0, 0.0]
    """
    coef = np.asarray(coef, dtype=np.float64)
    if coef.ndim != 1 or coef.shape[0] < 2 or not np.isfinite(coef).all():
        raise ValueError(
            "coef must be a vector of at least two finite numbers, got "
            f"{np.array2string(coef, threshold=10)} of shape {coef.shape}"
        )
    random_state = check_random_state(random_state)
    X = random_state.standard_normal((n_samples, coef.shape[0]))
    unexplained = 1.0 - rho * rho
    X[:, 1] = rho * X[:, 0] + np.sqrt(unexplained) * X[:, 1]
    y = X @ coef + noise * random_state.standard_normal(n_samples)
    if not return_importances:
        return X, y
    importances = coef**2
    importances[:2] *= unexplained
    return X, y, importances
