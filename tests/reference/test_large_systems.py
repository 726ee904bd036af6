"""Systems of more than 512 unknowns, which the core factors block by block so that an interrupt can
end them: the same solutions as NumPy's and scikit-learn's."""

import numpy as np
import pytest
from fctree import CurvatureTreeRegressor, FCODTRegressor
from sklearn.linear_model import Ridge

rng = np.random.default_rng(0)


def ridge_leaf(X, y, alpha):
    return FCODTRegressor(max_depth=0, alpha=alpha).fit(X, y)


@pytest.mark.parametrize("shape", [(650, 700), (900, 600)])
def test_ridge_regression(shape):
    X = rng.standard_normal(shape)
    y = X[:, 0] + rng.standard_normal(shape[0])
    expected = Ridge(alpha=2.0).fit(X, y).predict(X)
    # Two solvers of systems with condition numbers below 1e4.
    np.testing.assert_allclose(ridge_leaf(X, y, 2.0).predict(X), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("shape", [(650, 700), (900, 600)])
def test_least_norm_where_columns_are_copies(shape):
    X = rng.standard_normal(shape)
    X[:, 1::2] = X[:, ::2]
    y = X[:, 0] + rng.standard_normal(shape[0])
    centred = X - X.mean(axis=0)
    coef = np.linalg.pinv(centred, rcond=1e-10) @ (y - y.mean())
    found = ridge_leaf(X, y, 0.0).tree_.leaf_coef[0, 0]
    # Eigenvalues from 1 to 1e3 are told apart from those of 0 by rounding.
    np.testing.assert_allclose(found, coef, rtol=0, atol=1e-8)


def test_penalty_by_leave_one_out():
    X = rng.standard_normal((800, 560))
    y = X[:, :20].sum(axis=1) + 3.0 * rng.standard_normal(800)
    alphas = 10.0 ** (3.0 - 0.5 * np.arange(15))
    centred = X - X.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    errors = []
    for alpha in alphas:
        share = s**2 / (s**2 + alpha)
        fitted = y.mean() + u @ (share * (u.T @ y))
        leverage = 1.0 / len(y) + (u**2) @ share
        errors.append(np.mean(((y - fitted) / (1.0 - leverage)) ** 2))
    best = alphas[int(np.argmin(errors))]
    assert ridge_leaf(X, y, "loo").alpha_ == pytest.approx(best)


def test_curvature_direction_of_many_features():
    X = rng.standard_normal((6000, 520))
    y = 2.0 * X[:, 7] ** 2 + 0.1 * rng.standard_normal(6000)
    tree = CurvatureTreeRegressor(max_depth=1, directions="curvature").fit(X, y).tree_
    assert np.abs(tree.coef[0]).argmax() == 7
    assert np.abs(tree.coef[0, 7]) / np.linalg.norm(tree.coef[0]) > 0.85
