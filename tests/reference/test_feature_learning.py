"""Features learned by tree kernels: gradients, metrics, and what they are good for."""

import tracemalloc

import numpy as np
import pytest
from fctree import (
    TreeNTKClassifier,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
    load_model,
    save_model,
)
from fctree.kernel_ridge.feature_learning import gradient_rows, matrix_after, next_matrix
from fctree.kernel_ridge.solvers import TreeKernel, solve_with_errors
from fctree.kernels import tree_ntk
from fctree.plotting import plot_feature_matrix
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

KERNELS = [("perfect", 1), ("perfect", 3), ("decision_list", 4), ("decision_list", np.inf),
           ("rule_set", 2), ({1: 1, 2: 2}, 3)]


def planted(n=600, d=8, seed=0):
    """A target of two directions among many features, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0] + X[:, 1]) + 0.5 * X[:, 0] * X[:, 2] + 0.1 * rng.normal(size=n)


def fitted(X, y, rounds=2, **parameters):
    parameters = {"alpha": 0.1, "depth": 2, "scale": 1.0, "feature_learning": rounds} | parameters
    return TreeNTKRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize("architecture, depth", KERNELS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_products_of_gradients(architecture, depth, weighted):
    rng = np.random.default_rng(1)
    centres, coefficients, Z = (rng.normal(size=s) for s in ((30, 3), (30, 2), (20, 3)))
    weights = rng.uniform(size=20) if weighted else None

    def predict(Z):
        return tree_ntk(Z, centres, depth=depth, scale=1.5, architecture=architecture) @ coefficients

    steps = 1e-5 * np.eye(3)
    gradients = np.stack([(predict(Z + e) - predict(Z - e)) / 2e-5 for e in steps], axis=2)
    share = np.full(20, 1 / 20) if weights is None else weights / weights.sum()
    expected = np.einsum("n,nki,nkj->ij", share, gradients, gradients)
    kernel = TreeKernel(depth, 1.5, architecture, "cpu", 1)
    rows = gradient_rows(kernel, Z, centres, coefficients, weights)
    found = rows.T @ rows
    assert_allclose(found, expected, rtol=1e-7, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("matrix", [None, np.diag([2.0, 1.0, 0.5])], ids=["first", "second"])
def test_next_metric_is_the_root_with_the_length_kept(matrix):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=(40, 1))
    kernel = TreeKernel(2, 1.0, "perfect", "cpu", 1)
    Z = X if matrix is None else X @ matrix
    solution = Z, solve_with_errors(kernel.gram(Z), y, 1.0)[0]

    def predict(X):
        inside = X if matrix is None else X @ matrix
        return (tree_ntk(inside, Z, depth=2, scale=1.0) @ solution[1])[:, 0]

    gradients = np.stack([(predict(X + e) - predict(X - e)) / 2e-5 for e in 1e-5 * np.eye(3)], axis=1)
    found = next_matrix(kernel, Z, X, matrix, solution, None)
    assert_allclose(found, found.T)
    square, mean = found @ found, gradients.T @ gradients / len(X)
    assert_allclose(square / np.trace(square), mean / np.trace(mean), rtol=1e-6, atol=1e-8)
    assert_allclose(np.linalg.norm(X @ found), np.linalg.norm(X))


@pytest.mark.parametrize("architecture", ["perfect", "exponential"])
def test_fewer_gradients_than_features(architecture):
    """The metrics of each round are those of all features, times a rotation; the matrix that a model keeps is symmetric."""
    rng = np.random.default_rng(3)
    X, y, weights = rng.normal(size=(20, 30)), rng.normal(size=(20, 1)), rng.uniform(0.5, 2.0, size=20)
    kernel = TreeKernel(2, 0.5, architecture, "cpu", 1)

    def solve(kernel, Z, targets, weights):
        return Z, solve_with_errors(kernel.gram(Z), targets, 0.1, weights)[0]

    expected = np.eye(30)  # by the full matrices
    for k in range(3):
        found = matrix_after(kernel, solve, X, y, weights, k)
        if k:
            assert found.shape == (30, 30)
            assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())
        rows = gradient_rows(kernel, X @ expected, *solve(kernel, X @ expected, y, weights), weights) @ expected
        values, vectors = np.linalg.eigh(rows.T @ rows)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        counted = X * np.sqrt(weights)[:, np.newaxis]
        expected = root * np.linalg.norm(counted) / np.linalg.norm(counted @ root)


def test_no_matrix_of_many_features_before_one_is_kept():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 4000)), rng.normal(size=40)
    tracemalloc.start()
    model = fitted(X, y, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.feature_matrix_ is None
    assert peak < 20 * X.nbytes < 0.3 * 8 * 4000**2


def test_relevant_features_are_found_and_prediction_gains():
    X, y = planted()
    plain, learned = fitted(X[:400], y[:400], 0), fitted(X[:400], y[:400])
    assert plain.feature_matrix_ is None
    assert learned.score(X[400:], y[400:]) > plain.score(X[400:], y[400:]) + 0.05
    diagonal = learned.feature_matrix_.diagonal()
    assert diagonal[:3].min() > 3 * diagonal[3:].max()
    errors = learned.feature_learning_errors_
    assert errors.shape == (3,) and errors.argmin() > 0


def test_noise_keeps_the_plain_kernel():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)), rng.normal(size=90)
    learned, plain = fitted(X, y, 3, alpha=30.0), fitted(X, y, 0, alpha=30.0)
    assert learned.feature_matrix_ is None
    assert_array_equal(learned.predict(X), plain.predict(X))
    assert fitted(X[:4], y[:4], 3).feature_matrix_ is None  # too few samples for folds


def test_another_fit_without_it_forgets_its_errors():
    X, y = np.random.default_rng(0).normal(size=(2, 30, 3))
    for model in (TreeNTKRegressor(feature_learning=1), TreeNTKRegressorCV(feature_learning=1, depths=[1])):
        assert hasattr(model.fit(X, y), "feature_learning_errors_")
        assert not hasattr(model.set_params(feature_learning=0).fit(X, y), "feature_learning_errors_")


def test_smaller_squares_are_not_enough_for_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 30)), rng.uniform(size=150) < 0.25
    model = TreeNTKClassifier(alpha=1.0, depth=8, scale=0.5, feature_learning=2).fit(X, y)
    errors = model.feature_learning_errors_
    assert errors[2] < 0.8 * errors[0]  # outputs of 0.5 for noise, not of 0: no class gets better
    assert model.feature_matrix_ is None
    numbers = TreeNTKRegressor(alpha=1.0, depth=8, scale=0.5, feature_learning=2).fit(X, np.eye(2)[y.astype(int)])
    assert_allclose(numbers.feature_learning_errors_, errors)
    assert numbers.feature_matrix_ is not None


@pytest.mark.parametrize("solver", ["nystrom", "cg"])
def test_other_solvers(solver):
    X, y = planted(n=300)
    model = fitted(X[:200], y[:200], 1, solver=solver, n_components=150, tol=1e-8)
    exact = fitted(X[:200], y[:200], 1)
    assert model.feature_matrix_ is not None
    assert_allclose(model.score(X[200:], y[200:]), exact.score(X[200:], y[200:]), atol=0.03)


def test_weights_are_repetitions():
    X, y = planted(n=150)
    weights = np.arange(150) % 3 + 0.0
    kernel = TreeKernel(2, 1.0, "perfect", "cpu", 1)
    Z = np.repeat(X, weights.astype(int), axis=0)
    targets = y[:, np.newaxis]
    one = next_matrix(kernel, X, X, None, (X, solve_with_errors(kernel.gram(X), targets, 1.0, weights)[0]), weights)
    repeated = np.repeat(targets, weights.astype(int), axis=0)
    other = next_matrix(kernel, Z, Z, None, (Z, solve_with_errors(kernel.gram(Z), repeated, 1.0)[0]), None)
    assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_same_bytes_for_any_threads():
    X, y = planted()
    models = [fitted(X, y, 1, n_jobs=n) for n in (1, 3)]
    assert_array_equal(models[0].feature_matrix_, models[1].feature_matrix_)
    assert_array_equal(models[0].predict(X), models[1].predict(X))


def test_classes_and_search():
    X, y = planted()
    labels = np.where(y > 0.3, "high", "low")
    model = TreeNTKClassifier(alpha=0.1, depth=2, scale=1.0, feature_learning=2)
    model.fit(X[:400], labels[:400])
    assert model.feature_matrix_ is not None
    assert model.score(X[400:], labels[400:]) > 0.85
    searched = TreeNTKRegressorCV(depths=(1, 2), scales=(0.5, 1.0), alphas=(0.01, 0.1), feature_learning=1)
    searched.fit(X[:400], y[:400])
    plain = TreeNTKRegressorCV(depths=(1, 2), scales=(0.5, 1.0), alphas=(0.01, 0.1))
    assert searched.score(X[400:], y[400:]) > plain.fit(X[:400], y[:400]).score(X[400:], y[400:])


def test_intervals_know_that_the_metric_was_learned():
    X, y = planted(n=1000)
    model = fitted(X[:500], y[:500])
    low, high = model.predict_interval(X[500:], confidence_level=0.9).T
    assert 0.85 < np.mean((low <= y[500:]) & (y[500:] <= high)) < 0.96


def test_picture():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = planted(n=200)
    ax = plot_feature_matrix(fitted(X, y, 1), max_features=3)
    assert sorted(text.get_text() for text in ax.get_xticklabels()) == ["x0", "x1", "x2"]
    with pytest.raises(ValueError, match="no metric"):
        plot_feature_matrix(fitted(X, y, 0))
    with pytest.raises(TypeError, match="TreeNTK estimator, got a Ridge"):
        plot_feature_matrix(Ridge().fit(X, y))


def test_model_file(tmp_path):
    X, y = planted(n=200)
    model = fitted(X, y, 1)
    save_model(model, tmp_path / "kernel.fct")
    assert_array_equal(load_model(tmp_path / "kernel.fct").predict(X), model.predict(X))
    model.feature_matrix_ = model.feature_matrix_[:3]
    with pytest.raises(ValueError, match="feature_matrix_"):
        save_model(model, tmp_path / "bad.fct")


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e90, 1e200])
@pytest.mark.parametrize("architecture", ["perfect", "exponential"])
def test_features_of_any_size(unit, architecture):
    X, y = planted(60, 3)
    model = TreeNTKRegressorCV(feature_learning=2, architecture=architecture, depths=(2,)).fit(X, y)
    other = TreeNTKRegressorCV(feature_learning=2, architecture=architecture, depths=(2,)).fit(X * unit, y)
    assert_allclose(other.feature_matrix_, model.feature_matrix_, atol=1e-6)
    assert_allclose(other.predict(X * unit), model.predict(X), atol=1e-6)


@pytest.mark.parametrize("given_weights", [False, True])
def test_folds_that_are_given_judge_it(given_weights):
    X, y = planted(60, 3)
    weights = np.random.default_rng(0).integers(0, 3, 60).astype(float) if given_weights else None
    folds = [(np.r_[20:60], np.r_[:20]), (np.r_[:20, 40:60], np.r_[20:40])]  # none holds the last third out
    model = TreeNTKRegressorCV(cv=folds, feature_learning=1, depths=(2,)).fit(X, y, weights)
    counted = np.ones(60) if weights is None else weights
    errors = np.zeros(60)
    for train, test in folds:
        fold = TreeNTKRegressor(alpha=model.alpha_, depth=2, scale=model.scale_)
        errors[test] = y[test] - fold.fit(X[train], y[train], counted[train]).predict(X[test])
    assert_allclose(model.feature_learning_errors_[0], np.average(errors[:40] ** 2, weights=counted[:40]), rtol=1e-6)
    assert model.predict_interval(X, 0.5).shape == (60, 2)
    assert len(model.interval_scores_) == np.count_nonzero(counted[:40])
