"""The exponential kernel against SciPy and finite differences, and the estimators with it."""

import numpy as np
import pytest
from fctree import TreeNTKClassifierCV, TreeNTKRegressor, TreeNTKRegressorCV
from fctree._native import matrix as native
from fctree.kernel_ridge.feature_learning import gradient_rows
from fctree.kernel_ridge.solvers import TreeKernel
from fctree.kernels import empirical_tree_ntk, exponential_kernel, tree_ntk
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((150, 5)), RNG.standard_normal((97, 5))


@pytest.mark.parametrize("scale", [1e-3, 0.3, 1.0, 20.0, 120.0])
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-13), (np.float32, 2e-5)])
def test_values(scale, dtype, tolerance):
    A, B = X.astype(dtype), Y.astype(dtype)
    K = exponential_kernel(A, B, scale=scale)
    assert K.dtype == dtype
    exponent = scale * cdist(A.astype(float), B.astype(float))
    # Rounding of the exponent is relative to itself; longer ones end at the range's end.
    kept = exponent < (700 if dtype == np.float64 else 80)
    error = np.abs(K[kept] / np.exp(-exponent[kept]) - 1)
    assert np.all(error <= tolerance * (1 + exponent[kept]))
    assert np.all(K[~kept] < 1e-34) and np.all(K >= 0)


def test_symmetric_with_ones_and_any_threads():
    Z = np.vstack([X, X[:20] * (1 + 1e-15), X[:20]])
    K = exponential_kernel(Z, scale=0.7)
    assert_array_equal(K, K.T)
    assert_array_equal(K.diagonal(), 1.0)
    assert_array_equal(K[:20, -20:].diagonal(), 1.0)
    assert_array_equal(exponential_kernel(Z, scale=0.7, n_jobs=3), K)
    assert_array_equal(TreeKernel(1, 0.7, "exponential", "cpu", 1).diagonal(Z), 1.0)
    assert_allclose(exponential_kernel(np.array([[1e-200], [0.0], [1e100]])),
                    [[1, 1, 0], [1, 1, 0], [0, 0, 1]], atol=1e-300)
    with pytest.raises(ValueError, match="rescale the features"):
        exponential_kernel(1e160 * X)


def test_derivative_by_the_scale():
    step, out = 1e-6, np.empty((1, 1, 150, 150))
    spec = native.KernelSpec("exponential", derivative="log_scale")
    native.gram([spec], X[np.newaxis], None, 0.8, out, 1)
    up, down = (exponential_kernel(X, scale=0.8 * np.exp(s)) for s in (step, -step))
    assert_allclose(out[0, 0], (up - down) / (2 * step), rtol=0, atol=1e-9)


def test_gradients():
    """Away from the centres, where the kernel has none."""
    kernel = TreeKernel(1, 0.6, "exponential", "cpu", 2)
    coefficients = RNG.standard_normal((150, 2))
    gradients = np.empty((97, 2, 5))
    step = 1e-6
    for j in range(5):
        shift = step * np.eye(5)[j]
        ends = [exponential_kernel(Y + s * shift, X, scale=0.6) @ coefficients for s in (1, -1)]
        gradients[:, :, j] = (ends[0] - ends[1]) / (2 * step)
    expected = np.einsum("iqj,iqk->jk", gradients, gradients) / 97
    rows = gradient_rows(kernel, Y, X, coefficients)
    found = rows.T @ rows
    assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    assert np.isfinite(gradient_rows(kernel, X, X, coefficients)).all()


def test_estimators():
    y = np.sin(X[:, 0] * 2) + X[:, 1]
    model = TreeNTKRegressor(alpha=0.1, scale=0.5, architecture="exponential").fit(X, y)
    c = np.linalg.solve(np.exp(-0.5 * cdist(X, X)) + 0.1 * np.eye(150), y)
    assert_allclose(model.predict(Y), np.exp(-0.5 * cdist(Y, X)) @ c, atol=1e-10)
    landmarks = TreeNTKRegressor(alpha=0.1, scale=0.5, architecture="exponential", solver="nystrom")
    assert_allclose(landmarks.fit(X, y).predict(Y), model.predict(Y), atol=1e-7)
    search = TreeNTKRegressorCV(architectures=["exponential", "perfect"], depths=(1, 2), scales=(0.2, 1.0))
    assert len(search.fit(X, y).cv_results_["score"]) == 2 * 4 * 3
    labels = TreeNTKClassifierCV(architecture="exponential", scales=(0.5,)).fit(X, y > 0)
    assert labels.best_score_ > 0.8 and labels.score(X, y > 0) > 0.9


def test_features_are_learned():
    Z = RNG.standard_normal((450, 8))
    y = np.sin(2 * Z[:, 0]) + 0.1 * RNG.standard_normal(450)
    parameters = {"alpha": 0.1, "scale": 0.3, "architecture": "exponential"}
    plain, learned = (TreeNTKRegressor(**parameters, feature_learning=k).fit(Z[:300], y[:300])
                      for k in (0, 3))
    assert learned.feature_matrix_ is not None and learned.feature_matrix_.diagonal().argmax() == 0
    assert learned.score(Z[300:], y[300:]) > plain.score(Z[300:], y[300:]) + 0.1


def test_no_tree_has_it():
    for refuse in (lambda: tree_ntk(X, architecture="exponential"),
                   lambda: empirical_tree_ntk(X, n_trees=2, architecture="exponential")):
        with pytest.raises(ValueError, match="architecture"):
            refuse()
