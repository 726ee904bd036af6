"""The kernel ridge estimators against scikit-learn's KernelRidge and plain NumPy."""

import warnings

import numpy as np
import pytest
from fctree import (
    TreeNTKClassifier,
    TreeNTKClassifierCV,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)
from fctree.kernels import TreeNTK, tree_ntk
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

RNG = np.random.default_rng(0)
X, X_TEST = RNG.standard_normal((80, 4)), RNG.standard_normal((30, 4))
Y = np.column_stack([np.abs(X[:, 0]), X[:, 1] * X[:, 2], np.sin(X[:, 3])])
LABELS = np.where(X[:, 0] > 0.5, "a", np.where(X[:, 1] > 0, "b", "c"))
WEIGHTS = RNG.integers(0, 4, 80).astype(float)


def kernel_ridge(alpha, targets, weights=None, **kernel):
    K = tree_ntk(X, **kernel)
    model = KernelRidge(alpha=alpha, kernel="precomputed").fit(K, targets, weights)
    return model.predict(tree_ntk(X_TEST, X, **kernel))


@pytest.mark.parametrize("solver", ["cholesky", "cg", "nystrom"])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("targets", [Y[:, 0], Y])
def test_regressor_is_kernel_ridge(solver, weights, targets):
    model = TreeNTKRegressor(alpha=0.3, depth=2, solver=solver, tol=1e-12)
    actual = model.fit(X, targets, weights).predict(X_TEST)
    assert actual.shape == (30, *targets.shape[1:])
    # With all samples as landmarks the Nystrom solution is the full one.
    expected = kernel_ridge(0.3, targets, weights, depth=2)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-7)


def test_classifier_is_the_papers_protocol():
    one_hot = (LABELS[:, None] == np.array(["a", "b", "c"])).astype(float)
    outputs = kernel_ridge(1e-8, one_hot, depth=3, scale=4.0)
    model = TreeNTKClassifier(depth=3, scale=4.0).fit(X, LABELS)
    np.testing.assert_array_equal(model.predict(X_TEST), np.array(["a", "b", "c"])[outputs.argmax(1)])
    np.testing.assert_allclose(model.decision_function(X_TEST), outputs, rtol=0, atol=1e-6)


def test_two_classes_have_one_decision_value():
    model = TreeNTKClassifier(alpha=0.1).fit(X, LABELS == "a")
    values = model.decision_function(X_TEST)
    assert values.shape == (30,)
    np.testing.assert_array_equal(model.predict(X_TEST), values > 0)


def test_one_class_is_always_predicted():
    assert set(TreeNTKClassifier().fit(X, np.full(80, "only")).predict(X_TEST)) == {"only"}


def test_equal_samples_with_different_targets_warn_and_give_their_mean():
    doubled, targets = np.vstack([X[:20], X[:20]]), np.concatenate([Y[:20, 0], Y[20:40, 0]])
    with pytest.warns(LinAlgWarning, match="singular to rounding"):
        model = TreeNTKRegressor(alpha=0.0).fit(doubled, targets)
    means = (Y[:20, 0] + Y[20:40, 0]) / 2
    np.testing.assert_allclose(model.predict(X[:20]), means, rtol=0, atol=1e-9)


@pytest.mark.parametrize("alpha, warns, error", [(1e-14, True, 1e-9), (1e-11, False, 1e-2), (1e-8, False, 1e-5)])
def test_equal_samples_warn_where_the_penalty_is_rounding(alpha, warns, error):
    """As the guide of kernels says."""
    samples = np.repeat(np.random.default_rng(0).standard_normal((100, 5)), 2, axis=0)
    targets = np.random.default_rng(1).standard_normal(200)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = TreeNTKRegressor(alpha=alpha).fit(samples, targets)
    assert [w.category for w in caught] == [LinAlgWarning] * warns
    # The errors of the guide, with room for other processors' rounding.
    np.testing.assert_allclose(model.predict(samples[::2]), targets.reshape(-1, 2).mean(axis=1), rtol=0, atol=error)


def test_a_regular_matrix_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TreeNTKRegressor().fit(X, Y)


def test_iterations_that_end_too_soon_warn():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = TreeNTKRegressor(alpha=1e-6, solver="cg", max_iter=2).fit(X, Y)
    assert model.n_iter_ == 2


def test_landmarks_solve_their_normal_equations():
    model = TreeNTKRegressor(alpha=0.5, solver="nystrom", n_components=15, tol=1e-12,
                             random_state=0).fit(X, Y, WEIGHTS)
    Z = model.X_fit_
    assert Z.shape == (15, 4)
    K_nz, K_zz = tree_ntk(X, Z), tree_ntk(Z)
    left = K_nz.T @ (WEIGHTS[:, None] * K_nz) + 0.5 * K_zz
    expected = np.linalg.solve(left, K_nz.T @ (WEIGHTS[:, None] * Y))
    np.testing.assert_allclose(model.dual_coef_, expected, rtol=1e-5, atol=1e-7)
    assert all((WEIGHTS[np.all(X == z, axis=1)] > 0).all() for z in Z)


def test_landmarks_come_close_to_the_exact_solution():
    rng = np.random.default_rng(2)
    A, A_test = rng.standard_normal((1500, 5)), rng.standard_normal((500, 5))
    f = np.abs(A[:, 0]) + A[:, 1] * A[:, 2]
    f_test = np.abs(A_test[:, 0]) + A_test[:, 1] * A_test[:, 2]
    y = f + 0.3 * rng.standard_normal(1500)
    errors = {}
    for solver in ("cholesky", "nystrom"):
        model = TreeNTKRegressor(alpha=1.0, depth=2, scale=0.3, solver=solver, n_components=400,
                                 random_state=0).fit(A, y)
        errors[solver] = np.mean((model.predict(A_test) - f_test) ** 2)
    assert errors["nystrom"] < 1.05 * errors["cholesky"]


@pytest.mark.parametrize("weights", [None, np.where(WEIGHTS > 0, WEIGHTS, 1.0)])
def test_leave_one_out_is_leaving_one_out(weights):
    small, targets = X[:25], Y[:25]
    w = None if weights is None else weights[:25]
    model = TreeNTKRegressorCV(alphas=(0.01, 0.5), depths=(1, 3), scales=(1.0, 4.0))
    results = model.fit(small, targets, w).cv_results_
    for scale, depth, alpha, score in zip(*(results[k] for k in ("scale", "depth", "alpha", "score")),
                                          strict=True):
        errors = []
        for i in range(25):
            kept = np.arange(25) != i
            single = TreeNTKRegressor(alpha=alpha, depth=int(depth), scale=scale)
            single.fit(small[kept], targets[kept], None if w is None else w[kept])
            errors.append(np.mean((single.predict(small[[i]])[0] - targets[i]) ** 2))
        np.testing.assert_allclose(-np.average(errors, weights=w), score, rtol=1e-8)
    best = results["score"].argmax()
    assert (model.scale_, model.depth_, model.alpha_) == tuple(
        results[k][best] for k in ("scale", "depth", "alpha"))
    assert model.best_score_ == results["score"][best]
    single = TreeNTKRegressor(alpha=model.alpha_, depth=model.depth_, scale=model.scale_)
    np.testing.assert_allclose(model.predict(X_TEST), single.fit(small, targets, w).predict(X_TEST),
                               rtol=0, atol=1e-9)


def test_leave_one_out_accuracy():
    model = TreeNTKClassifierCV(alphas=(0.1,), depths=(2,), scales=(1.0,)).fit(X[:40], LABELS[:40])
    hits = 0
    for i in range(40):
        kept = np.arange(40) != i
        single = TreeNTKClassifier(alpha=0.1, depth=2, scale=1.0).fit(X[:40][kept], LABELS[:40][kept])
        hits += single.predict(X[[i]])[0] == LABELS[i]
    assert model.best_score_ == hits / 40


@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_folds_are_fits_on_parts(kind):
    folds = KFold(4) if kind == "regressor" else StratifiedKFold(4)
    targets = Y[:, 0] if kind == "regressor" else LABELS
    search = TreeNTKRegressorCV if kind == "regressor" else TreeNTKClassifierCV
    one = TreeNTKRegressor if kind == "regressor" else TreeNTKClassifier
    model = search(alphas=(0.01, 1.0), depths=(1, 2), scales=(2.0,), cv=folds).fit(X, targets)
    integer = search(alphas=(0.01, 1.0), depths=(1, 2), scales=(2.0,), cv=4).fit(X, targets)
    np.testing.assert_array_equal(model.cv_results_["score"], integer.cv_results_["score"])
    for depth, alpha, score in zip(*(model.cv_results_[k] for k in ("depth", "alpha", "score")),
                                   strict=True):
        values = []
        for train, test in folds.split(X, targets):
            fitted = one(alpha=alpha, depth=int(depth), scale=2.0).fit(X[train], targets[train])
            predicted = fitted.predict(X[test])
            values.append(np.mean(predicted == targets[test]) if kind == "classifier"
                          else -np.mean((predicted - targets[test]) ** 2))
        np.testing.assert_allclose(score, np.mean(values), rtol=1e-8)


def test_folds_of_groups():
    groups = np.random.default_rng(0).integers(0, 9, len(X))
    grid = {"alphas": (0.01, 1.0), "depths": (1, 2), "scales": (2.0,)}
    for search, targets in ((TreeNTKRegressorCV, Y[:, 0]), (TreeNTKClassifierCV, LABELS)):
        model = search(**grid, cv=GroupKFold(3)).fit(X, targets, groups=groups)
        expected = search(**grid, cv=list(GroupKFold(3).split(X, targets, groups))).fit(X, targets)
        np.testing.assert_array_equal(model.cv_results_["score"], expected.cv_results_["score"])
        with pytest.raises(ValueError, match="groups"):
            model.fit(X, targets)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.fit(X, targets, groups=groups[1:])
        with pytest.raises(ValueError, match="groups are for a cv that splits by them"):
            search(**grid).fit(X, targets, groups=groups)


def test_the_first_of_equal_scores_is_taken():
    model = TreeNTKRegressorCV(alphas=(1.0, 0.1), depths=(2, 1), scales=(2.0, 1.0)).fit(X, np.zeros(len(X)))
    assert (model.alpha_, model.depth_, model.scale_) == (1.0, 2, 2.0)


def test_several_architectures():
    grid = {"alphas": (0.1, 1.0), "depths": (1, 2, np.inf), "scales": (1.0, 2.0)}
    names = ["perfect", "decision_list", {1: 1, 2: 2}]
    model = TreeNTKRegressorCV(**grid, architectures=names).fit(X, Y)
    assert len(model.cv_results_["score"]) == 2 * 2 * (2 + 3 + 1)
    alone = {}
    for name in names:
        depths = grid["depths"] if name == "decision_list" else (1, 2)
        one = TreeNTKRegressorCV(**{**grid, "depths": depths}, architecture=name).fit(X, Y)
        alone[str(name)] = one
    best = max(alone.values(), key=lambda one: one.best_score_)
    assert model.best_score_ == best.best_score_
    assert model.architecture_ == best.architecture_ and model.depth_ == best.depth_
    np.testing.assert_array_equal(model.predict(X_TEST), best.predict(X_TEST))
    with pytest.raises(ValueError, match="inf"):
        TreeNTKRegressorCV(architectures=["perfect"], depths=[np.inf]).fit(X, Y)
    with pytest.raises(ValueError, match="architecture and architectures exclude each other"):
        TreeNTKRegressorCV(architecture="decision_list", architectures=["perfect"]).fit(X, Y)
    with pytest.raises(ValueError, match="architectures is empty"):
        TreeNTKRegressorCV(architectures=[]).fit(X, Y)
    with pytest.raises(ValueError, match="architecture must be one of"):
        TreeNTKRegressorCV(architectures=["bush"]).fit(X, Y)


def test_leaf_counts_as_the_architecture():
    counts = {1: 1, 2: 2}
    model = TreeNTKRegressorCV(alphas=(0.1,), scales=(1.0, 2.0), architecture=counts).fit(X, Y)
    assert len(model.cv_results_["score"]) == 2
    single = TreeNTKRegressor(alpha=0.1, scale=model.scale_, architecture=counts).fit(X, Y)
    np.testing.assert_allclose(model.predict(X_TEST), single.predict(X_TEST), atol=1e-9)


@pytest.mark.parametrize("architecture, depth", [
    ("perfect", 1), ("perfect", 2), ("perfect", 5), ("oblivious", 3), ("decision_list", 1),
    ("decision_list", 2), ("decision_list", 6), ("decision_list", np.inf), ("rule_set", 3),
    ({1: 1, 2: 1, 3: 2}, 1)], ids=str)
def test_gradient_of_the_gaussian_process_kernel(architecture, depth):
    for scale in (0.3, 2.0, 20.0):
        K, gradient = TreeNTK(depth, scale, architecture=architecture)(X, eval_gradient=True)
        assert gradient.shape == (80, 80, 1)
        assert np.array_equal(gradient[:, :, 0], gradient[:, :, 0].T)
        step = 1e-5
        up, down = (TreeNTK(depth, scale * np.exp(s), architecture=architecture)(X)
                    for s in (step, -step))
        # Central differences: step^2 of truncation, 1e-16 / step of rounding.
        np.testing.assert_allclose(gradient[:, :, 0], (up - down) / (2 * step), rtol=0,
                                   atol=1e-8 * np.abs(K).max())


def test_gaussian_process_kernel_in_scikit_learn():
    kernel = TreeNTK(depth=2, scale=3.0)
    np.testing.assert_allclose(kernel.diag(X), np.diag(kernel(X)), rtol=1e-12)
    np.testing.assert_allclose(kernel(X, X_TEST), tree_ntk(X, X_TEST, depth=2, scale=3.0))
    assert not kernel.is_stationary()
    assert kernel.theta == pytest.approx([np.log(3.0)])
    clone = kernel.clone_with_theta([0.0])
    assert clone.scale == 1.0 and clone.depth == 2
    fixed = TreeNTK(scale_bounds="fixed")
    assert fixed(X, eval_gradient=True)[1].shape == (80, 80, 0)
    with pytest.raises(ValueError, match="Gradient"):
        kernel(X, X_TEST, eval_gradient=True)
    assert "decision_list" in repr(TreeNTK(architecture="decision_list"))
    model = GaussianProcessRegressor(kernel, alpha=1e-3).fit(X, Y[:, 0])
    start = GaussianProcessRegressor(kernel, alpha=1e-3, optimizer=None).fit(X, Y[:, 0])
    assert model.log_marginal_likelihood_value_ > start.log_marginal_likelihood_value_


def test_classifiers_by_squared_error():
    """Leave-one-out errors of the indicators, left out one by one."""
    small, labels = X[:25], LABELS[:25]
    targets = (labels[:, None] == np.unique(labels)).astype(float)
    grid = {"alphas": (0.01, 0.5), "depths": (1, 3), "scales": (1.0,)}
    model = TreeNTKClassifierCV(**grid, scoring="neg_mean_squared_error").fit(small, labels)
    regressor = TreeNTKRegressorCV(**grid).fit(small, targets)
    np.testing.assert_allclose(model.cv_results_["score"], regressor.cv_results_["score"])
    assert (model.alpha_, model.depth_) == (regressor.alpha_, regressor.depth_)
    with pytest.raises(ValueError, match="scoring"):
        TreeNTKClassifierCV(scoring="r2").fit(small, labels)


@pytest.mark.parametrize("unit", [1e-120, 0.01, 1e3, 1e120])
def test_scales_go_by_the_lengths_of_the_samples(unit):
    grid = {"alphas": (0.01, 1.0), "depths": (1, 3)}
    plain, scaled = (TreeNTKRegressorCV(**grid).fit(X * c, Y) for c in (1.0, unit))
    length = np.sqrt(np.mean(np.sum(X**2, axis=1)))
    tried = plain.cv_results_["scale"] * length
    np.testing.assert_allclose(np.unique(tried), [0.25, 0.5, 1.0, 2.0, 4.0, 8.0], rtol=0.005)
    assert (scaled.depth_, scaled.alpha_) == (plain.depth_, plain.alpha_)
    np.testing.assert_allclose(scaled.scale_ * unit, plain.scale_)
    np.testing.assert_allclose(scaled.predict(X * unit), plain.predict(X), rtol=1e-6)


def test_scales_go_by_the_samples_of_positive_weight():
    far, weights = np.vstack([X, 100.0 * X]), np.repeat([1.0, 0.0], len(X))
    grid = {"alphas": (0.1,), "depths": (1,)}
    found = TreeNTKRegressorCV(**grid).fit(far, np.vstack([Y, Y]), sample_weight=weights)
    expected = TreeNTKRegressorCV(**grid).fit(X, Y)
    np.testing.assert_array_equal(found.cv_results_["scale"], expected.cv_results_["scale"])


def test_scales_of_samples_without_a_length():
    assert np.unique(TreeNTKRegressorCV().fit(np.zeros((5, 2)), np.arange(5.0)).cv_results_["scale"]).tolist() == [0.25, 0.5, 1, 2, 4, 8]


@pytest.mark.parametrize("alpha", [0.0, 1e-12, 1e-3])
def test_conjugate_gradients_of_tied_samples_find_their_means(alpha):
    """Equal rows with other targets have no solution without a penalty: iterates then grow without end."""
    rng = np.random.default_rng(2)
    X = np.repeat(rng.normal(size=(10, 4)), 50, axis=0)
    y = rng.normal(size=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = TreeNTKRegressor(alpha=alpha, solver="cg").fit(X, y)
    assert model.score(X, y) > 0.01
    assert np.abs(model.predict(X)).max() < np.abs(y).max()


def test_conjugate_gradients_warn_of_a_residual_that_is_not_small():
    rng = np.random.default_rng(2)
    X = np.repeat(rng.normal(size=(10, 4)), 50, axis=0)
    with pytest.warns(ConvergenceWarning, match="alpha"):
        TreeNTKRegressor(alpha=1e-14, solver="cg").fit(X, rng.normal(size=500))
