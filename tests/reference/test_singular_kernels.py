"""Leave-one-out errors where the kernel matrix is singular to rounding, against refits without each sample."""

import warnings

import numpy as np
import pytest
from fctree import TreeNTKClassifierCV, TreeNTKRegressor, TreeNTKRegressorCV, load_model, save_model
from fctree.kernel_ridge.spectrum import Spectrum
from fctree.kernels import tree_ntk
from scipy.linalg import LinAlgWarning

KERNEL = {"depth": 2, "scale": 1.0}
GRID = {"depths": [2], "scales": [1.0]}


def pairs(n):
    """Each sample twice, with targets 1 apart."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    y = np.sin(X[:, 0])
    return np.r_[X, X], np.r_[y, y + 1.0]


def refits(X, y, alpha, weights=None):
    """Mean squared error without each sample."""
    errors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        for i in range(len(y)):
            kept = np.arange(len(y)) != i
            model = TreeNTKRegressor(alpha=alpha, **KERNEL)
            model.fit(X[kept], y[kept], None if weights is None else weights[kept])
            errors.append(y[i] - model.predict(X[[i]])[0])
    return np.average(np.square(errors), weights=weights)


@pytest.mark.parametrize("solver", ["cholesky", "nystrom"])
def test_equal_samples_of_different_targets_warn(solver):
    X, y = pairs(40)
    with pytest.warns(LinAlgWarning, match="alpha=0 on its diagonal is singular to rounding.*Equal samples"):
        model = TreeNTKRegressor(alpha=0.0, solver=solver, random_state=0, **KERNEL).fit(X, y)
    np.testing.assert_allclose(model.predict(X[:40]), y[:40] + 0.5, atol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(alpha=1e-8).fit(X, y)
        model.set_params(alpha=0.0, n_components=20).fit(X[:40], y[:40])


@pytest.mark.parametrize("alphas, warns", [([0.0], True), ([0.0, 0.01], False)])
def test_a_search_warns_of_the_penalty_that_it_chooses(alphas, warns):
    X, y = pairs(40)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = TreeNTKRegressorCV(alphas=alphas, **GRID).fit(X, y)
    assert model.alpha_ == alphas[-1]
    assert [w.category for w in caught] == [LinAlgWarning] * warns


@pytest.mark.parametrize("alpha", [0.0, 1e-15, 1e-13, 1e-12])
def test_pairs_are_predicted_by_their_twins(alpha):
    X, y = pairs(40)
    model = TreeNTKRegressorCV(alphas=[alpha, 0.01], **GRID).fit(X, y)
    # The twin's target, 1 off; of 1e-13 a hundredth is rounding in the refits.
    assert refits(X, y, alpha) == pytest.approx(1.0, rel=0.01)
    np.testing.assert_allclose(model.cv_results_["score"][0], -1.0, rtol=1e-3)


def test_the_choice_of_the_penalty_does_not_fall_for_the_smallest():
    X, y = pairs(40)
    alphas = (1e-13, 1e-8, 10.0)
    scores = [TreeNTKRegressorCV(alphas=alphas, cv=cv, **GRID).fit(X, y) for cv in (None, len(y))]
    assert scores[0].alpha_ == scores[1].alpha_ == 10.0
    np.testing.assert_allclose(*(model.cv_results_["score"] for model in scores), rtol=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 1e-8])
def test_large_weights(alpha):
    X, y = pairs(40)
    weights = 1e6 * np.random.default_rng(1).integers(1, 4, len(y))
    model = TreeNTKRegressorCV(alphas=[alpha], **GRID).fit(X, y, weights)
    np.testing.assert_allclose(-model.best_score_, refits(X, y, alpha, weights), rtol=1e-3)


@pytest.mark.parametrize("alpha", [0.0, 1e-14, 1e-13, 1e-12, 1e-11])
def test_few_values_of_one_feature(alpha):
    rng = np.random.default_rng(2)
    X = np.repeat(np.linspace(-2.0, 2.0, 8), 8)[:, np.newaxis]
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=len(X))
    model = TreeNTKRegressorCV(alphas=[alpha], **GRID).fit(X, y)
    np.testing.assert_allclose(-model.best_score_, refits(X, y, alpha), rtol=0.02)


def test_single_samples_beside_pairs_keep_the_ordinary_formula():
    """The null space has no part in them but for rounding, which would be all there is without a penalty."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    X, y = np.r_[X, X[:8]], rng.normal(size=38)
    expected = Spectrum(tree_ntk(X, **KERNEL), y[:, np.newaxis], None).errors(1e-9)
    for alpha in (0.0, 1e-300, 1e-20, 1e-15):
        actual = Spectrum(tree_ntk(X, **KERNEL), y[:, np.newaxis], None).errors(alpha)
        np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-3)


def test_opposite_labels_are_never_right():
    X = pairs(20)[0]
    labels = np.r_[np.arange(20) % 2, 1 - np.arange(20) % 2]
    model = TreeNTKClassifierCV(alphas=[0.0], **GRID).fit(X, labels)
    assert model.best_score_ == 0.0


@pytest.mark.parametrize("alpha", [0.0, 1e-14])
@pytest.mark.parametrize("searches", [False, True])
@pytest.mark.parametrize("weight", [None, 1e6])
def test_intervals_know_what_twins_differ_by(alpha, searches, weight):
    X, y = pairs(60)
    weights = None if weight is None else np.full(len(y), weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        if searches:
            model = TreeNTKRegressorCV(alphas=[alpha], **GRID).fit(X, y, weights)
        else:
            model = TreeNTKRegressor(alpha=alpha, **KERNEL).fit(X, y, weights)
    lower, upper = model.predict_interval(X).T
    np.testing.assert_allclose(upper - lower, 2.0, rtol=1e-3)
    assert np.all((lower <= y) & (y <= upper))


def test_intervals_between_the_two_limits_of_rounding():
    """The eigenvectors of this penalty's system are cut off, its Cholesky factor is not singular."""
    X, y = pairs(300)
    model = TreeNTKRegressorCV(alphas=[1e-12], **GRID).fit(X, y)
    lower, upper = model.predict_interval(X).T
    np.testing.assert_allclose(upper - lower, 2.0, rtol=1e-3)


def test_model_files_keep_the_errors(tmp_path):
    X, y = pairs(20)
    model = TreeNTKRegressorCV(alphas=[0.0], **GRID).fit(X, y)
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_interval(X), model.predict_interval(X))


def test_coefficients_alone_do_not_tell_errors():
    """Of models of earlier versions: where the null space has a part, the errors are unknown."""
    X, y = pairs(20)
    X, y = np.r_[X, 3.0 + X[:2]], np.r_[y, 0.5, 1.0]
    model = TreeNTKRegressorCV(alphas=[0.0], **GRID).fit(X, y)
    model._fold_errors = None
    with pytest.warns(RuntimeWarning, match="intervals are infinite: .*needs about 9 conformity scores or more, and there are 2"):
        assert np.all(np.isinf(model.predict_interval(X)))
