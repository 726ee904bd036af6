"""Logistic models in the leaves of classification trees: their optimum, their penalties, what they are for."""

import numpy as np
import pytest
from fctree import CurvatureTreeClassifier
from fctree.inspection import distill
from fctree.oblique import logistic_leaves, logistic_models, logistic_root
from fctree.oblique.logistic_models import (
    INTERCEPT_PENALTY,
    LogisticData,
    left_out_loss_of_intercepts,
    left_out_losses,
    losses,
    minimise,
    near_minimum,
)
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def noisy_classes(n_samples=300, n_features=4, n_classes=3, *, bend=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    scores = X @ rng.standard_normal((n_features, n_classes)) + rng.gumbel(size=(n_samples, n_classes))
    scores[:, 0] += bend * np.abs(X[:, 0])
    return X, scores.argmax(axis=1)


def samples(X, y, weight=None):
    shares = np.eye(y.max() + 1)[y].T
    targets = shares if len(shares) > 2 else shares[1:]
    return LogisticData(np.column_stack([X, np.ones(len(X))]), np.ascontiguousarray(targets),
                   np.ones(len(X)) if weight is None else weight)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_root_is_scikit_learns_logistic_regression(n_classes):
    """With one of five penalties."""
    X, y = noisy_classes(n_classes=n_classes)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    mean = np.average(X, axis=0, weights=weight)
    Z = (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    tree = CurvatureTreeClassifier(max_depth=0, alpha=0.5).fit(X, y, sample_weight=weight)
    assert tree.temperature_ == 1.0
    found = tree.predict_proba(X)
    differences = [np.abs(LogisticRegression(C=2.0 / multiple, tol=1e-10, max_iter=10_000).fit(
        Z, y, sample_weight=weight).predict_proba(Z) - found).max() for multiple in (1, 8, 64, 512, 4096)]
    assert min(differences) < 1e-5  # the intercept's penalty of 1e-4


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gradient_is_zero_at_the_minimum(n_classes):
    X, y = noisy_classes(n_classes=n_classes)
    data = samples(X, y, np.random.default_rng(1).uniform(0.5, 2.0, len(X)))
    penalty = np.array([1.0, 2.0, 0.5, 8.0, 1.0])
    prior = np.random.default_rng(2).standard_normal((len(data.targets), 5))
    model, inverse = minimise(data, prior, penalty, np.zeros_like(prior))

    def objective(model):
        return data.weight @ losses(model @ data.Z.T, data.targets) + ((model - prior) ** 2 @ penalty).sum() / 2

    def gradient(model):
        steps = 1e-5 * np.eye(model.size).reshape(-1, *model.shape)
        return np.array([objective(model + step) - objective(model - step) for step in steps]) / 2e-5

    slope = gradient(model)
    np.testing.assert_allclose(slope, 0.0, atol=1e-5)  # central differences
    steps = 1e-4 * np.eye(model.size).reshape(-1, *model.shape)
    hessian = np.array([gradient(model + step) - gradient(model - step) for step in steps]) / 2e-4
    np.testing.assert_allclose(hessian @ inverse, np.eye(model.size), atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_left_out_losses_are_those_of_fits_without_the_sample(n_classes):
    """Of the model of all samples, and of a leaf's drawn to that one, which then moves as well."""
    X, y = noisy_classes(120, n_classes=n_classes)
    weight = np.where(np.arange(120) % 4 == 0, 2.0, 1.0)
    data, leaf = samples(X, y, weight), np.arange(0, 120, 3)
    m = len(data.targets)
    of_root, of_leaf = np.array([2.0] * 4 + [1e-4]), np.full(5, 3.0)
    zero = np.zeros((m, 5))

    def fit(weight):
        root, inverse = minimise(LogisticData(data.Z, data.targets, weight), zero, of_root, zero)
        own = LogisticData(data.Z, data.targets, weight).of(leaf)
        return root, inverse, *minimise(own, root, of_leaf, root)

    root, inverse, model, of_own = fit(weight)
    moves = of_own + of_own @ (np.tile(of_leaf, m)[:, np.newaxis] * inverse)
    found = left_out_losses(data, root, inverse)[0], left_out_losses(data.of(leaf), model, moves)[0]
    expected = [], []
    for i in leaf:
        without = fit(weight - (np.arange(120) == i))
        for k, fitted in enumerate((without[0], without[2])):
            expected[k].append(weight[i] * losses(fitted @ data.Z[[i]].T, data.targets[:, [i]])[0])
    for all_of, exact in zip((found[0][leaf], found[1]), expected, strict=True):
        plain = np.sum(exact)
        assert abs(all_of.sum() - plain) < 0.01 * plain
        np.testing.assert_allclose(all_of, exact, rtol=0.2, atol=0.02)  # one Newton step


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_left_out_loss_of_intercepts_is_that_of_models_without_features(n_classes):
    rng = np.random.default_rng(0)
    X, y = np.empty((200, 0)), rng.integers(0, n_classes, 200)
    data, penalty = samples(X, y, rng.uniform(0.1, 3.0, 200)), np.array([INTERCEPT_PENALTY])
    zero = np.zeros((len(data.targets), 1))
    model, inverse = minimise(data, zero, penalty, zero)
    expected = left_out_losses(data, model, inverse)[0].sum()
    np.testing.assert_allclose(left_out_loss_of_intercepts(data, model), expected, rtol=1e-6)  # a step more
    np.testing.assert_allclose(minimise(data.in_one(), zero, penalty, zero)[0], model, atol=1e-6)


def test_weights_are_numbers_of_samples():
    X, y = noisy_classes(400, bend=3.0)
    times = np.random.default_rng(0).integers(0, 3, 400)
    weighted = CurvatureTreeClassifier(min_samples_leaf=1).fit(X, y, sample_weight=times.astype(float))
    repeated = CurvatureTreeClassifier(min_samples_leaf=1).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.get_n_leaves() > 1
    # Rounding of two ways to add up, in growth and in Newton's method.
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-8)


def test_degrees_of_freedom_are_those_of_weighted_least_squares():
    X, y = noisy_classes(n_classes=2)
    data, penalty = samples(X, y, np.random.default_rng(1).uniform(0.5, 2.0, len(X))), np.full(5, 30.0)
    model, inverse = minimise(data, np.zeros((1, 5)), penalty, np.zeros((1, 5)))
    p = 1.0 / (1.0 + np.exp(-data.Z @ model[0]))
    gram = data.Z.T @ (data.Z * (data.weight * p * (1.0 - p))[:, np.newaxis])
    expected = np.trace(np.linalg.solve(gram + np.diag(penalty), gram))
    np.testing.assert_allclose(left_out_losses(data, model, inverse)[1], expected, rtol=1e-3)  # a step more


def test_a_weak_signal_in_many_columns_is_kept():
    """A temperature left .70, as much as without features; leave-one-out losses alone .73."""
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((2000, 300))
        y = (0.6 * X[:, :3].sum(axis=1) + rng.logistic(size=2000) > 0).astype(int)
        tree = CurvatureTreeClassifier().fit(X[:1000], y[:1000])
        found.append(log_loss(y[1000:], tree.predict_proba(X[1000:])))
    assert np.mean(found) < 0.66


@pytest.mark.parametrize(("n_samples", "n_features", "n_classes"), [(400, 300, 2), (400, 300, 3), (200, 30, 2)])
def test_of_noise_the_shares_remain(n_samples, n_features, n_classes):
    """Log-loss was 1.7 with 300 columns: leave-one-out scores do not see that features and splits were chosen."""
    worst = 0.0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((2 * n_samples, n_features)), rng.integers(n_classes, size=2 * n_samples)
        tree = CurvatureTreeClassifier().fit(X[:n_samples], y[:n_samples])
        worst = max(worst, log_loss(y[n_samples:], tree.predict_proba(X[n_samples:])))
    assert worst < np.log(n_classes) + 0.03


@pytest.mark.parametrize("n_classes", [2, 3, 5, 8])
def test_classes_in_plain_sight_among_many_columns_are_seen(n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1300, 200))
    value = X[:, 0] + 2.0 * np.abs(X[:, 1])
    y = np.digitize(value, np.quantile(value, np.arange(1, n_classes) / n_classes))
    tree = CurvatureTreeClassifier().fit(X[:300], y[:300])
    assert tree.score(X[300:], y[300:]) > 2.0 / n_classes * (0.8 if n_classes == 2 else 1.0)
    assert log_loss(y[300:], tree.predict_proba(X[300:])) < 0.96 * np.log(n_classes)


def test_a_linear_problem_is_as_good_as_logistic_regression():
    X, y = load_breast_cancer(return_X_y=True)
    linear = make_pipeline(StandardScaler(), LogisticRegression())
    own, other = (log_loss(y, cross_val_predict(model, X, y, method="predict_proba", cv=5))
                  for model in (CurvatureTreeClassifier(), linear))
    assert own < other + 0.03  # it was .16, and .08 of logistic regression


def test_separable_classes_and_leaves_of_one_class():
    """Models stay finite and modest, without a penalty, too."""
    X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    y = np.where(X[:, 0] > 0.3, 2, (X[:, 1] > 0).astype(int))
    for alpha in (1.0, 0.0):
        tree = CurvatureTreeClassifier(alpha=alpha).fit(X[:200], y[:200])
        probabilities = tree.predict_proba(X[200:])
        assert np.isfinite(tree.tree_.leaf_coef).all()
        assert log_loss(y[200:], probabilities) < 0.3


def test_a_class_without_weight():
    X, y = noisy_classes()
    tree = CurvatureTreeClassifier().fit(X, y, sample_weight=(y != 1).astype(float))
    probabilities = tree.predict_proba(X)
    assert np.isfinite(tree.tree_.leaf_intercept).all()
    assert probabilities[:, 1].max() < 0.01


def test_units_count_without_standardising_only():
    X, y = noisy_classes(bend=3.0)
    units = np.array([1e3, 1.0, 1e-3, 10.0])
    found = [[CurvatureTreeClassifier(max_depth=0, standardize=standardize, alpha=10.0).fit(Z, y).predict_proba(Z)
              for Z in (X, X * units)] for standardize in (True, False)]
    np.testing.assert_allclose(*found[0], atol=1e-7)
    assert np.abs(found[1][0] - found[1][1]).max() > 0.01


def test_labels_and_scores_are_those_of_the_probabilities():
    for n_classes in (2, 3):
        X, y = noisy_classes(n_classes=n_classes, bend=3.0)
        tree = CurvatureTreeClassifier().fit(X, y)
        scores, probabilities = tree.decision_function(X), tree.predict_proba(X)
        if n_classes == 2:
            scores = np.column_stack([np.zeros(len(X)), scores])
        expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(probabilities, expected, atol=1e-12)
        np.testing.assert_array_equal(tree.predict(X), probabilities.argmax(axis=1))


def test_features_that_the_tree_does_not_use_stay_unused():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 40))
    y = (X[:, 3] + np.abs(X[:, 5]) + 0.3 * rng.standard_normal(500) > 0.8).astype(int)
    tree = CurvatureTreeClassifier().fit(X, y).tree_
    assert 0 < np.any(tree.leaf_coef != 0.0, axis=(0, 1)).sum() < 20


def test_where_models_are_too_large_one_serves_all_leaves(monkeypatch):
    X, y = load_wine(return_X_y=True)
    monkeypatch.setattr(logistic_leaves, "_MOST_VARIABLES", 10)
    tree = CurvatureTreeClassifier().fit(X, y)
    assert tree.temperature_ == 1.0
    assert np.ptp(tree.tree_.leaf_coef, axis=0).max() == 0.0
    assert tree.score(X, y) > 0.95


def test_linear_leaves_keep_their_temperature_where_they_are_better(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4))
    y = np.digitize(np.abs(X[:, 0] + X[:, 1]), [0.7, 1.4])
    monkeypatch.setattr(logistic_leaves, "_MOST_VARIABLES", 10)
    tree = CurvatureTreeClassifier().fit(X, y)
    assert tree.temperature_ != 1.0
    assert tree.score(X, y) > 0.8


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_model_of_all_leaves_is_scikit_learns_logistic_regression(n_classes):
    X, y = noisy_classes(n_classes=n_classes)
    data = samples(X, y)
    penalty = np.append(np.full(X.shape[1], 3.0), 1e-9)
    prior = np.zeros((len(data.targets), X.shape[1] + 1))
    found = near_minimum(data, prior, penalty, prior)
    expected = LogisticRegression(C=1.0 / 3.0, tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(found[:, :-1], expected.coef_, atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_search_without_a_hessian_changes_nothing(n_classes, monkeypatch):
    X, y = noisy_classes(n_classes=n_classes)
    data = samples(X, y)
    rng = np.random.default_rng(0)
    prior = rng.standard_normal((len(data.targets), X.shape[1] + 1))
    penalty = rng.uniform(0.5, 2.0, X.shape[1] + 1)
    expected, inverse = minimise(data, prior, penalty, np.zeros_like(prior))
    monkeypatch.setattr(logistic_models, "_FEW_OPERATIONS", 0.0)
    found, other = minimise(data, prior, penalty, np.zeros_like(prior))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(other, inverse, atol=1e-4)


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
def test_leverages_of_more_and_fewer_samples_than_numbers(shape):
    rng = np.random.default_rng(0)
    Z, weight, penalty = rng.standard_normal(shape), rng.uniform(size=shape[0]), rng.uniform(0.5, 2.0, shape[1])
    weight[0] = 0.0
    hat = Z @ np.linalg.inv((Z.T * weight) @ Z + np.diag(penalty)) @ Z.T
    np.testing.assert_allclose(next(logistic_root._leverages(Z, [weight], penalty)), np.diagonal(hat), rtol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_expected_loss_of_that_model_is_nearly_leave_one_out(n_classes):
    X, y = noisy_classes(60, 5, n_classes)
    data = samples(X, y)
    penalty = np.append(np.full(X.shape[1], 1.0), 1e-4)
    prior = np.zeros((len(data.targets), X.shape[1] + 1))
    model = near_minimum(data, prior, penalty, prior)
    exact = 0.0
    for i in range(len(X)):
        others = near_minimum(data.of(np.delete(np.arange(len(X)), i)), prior, penalty, model)
        one = data.of([i])
        exact += losses(others @ one.Z.T, one.targets)[0]
    training = losses(model @ data.Z.T, data.targets).sum()
    found = logistic_root._expected_loss(data, model, penalty, 0.0)
    # Blocks on the diagonal say a little too much, the more the fewer classes there are but two.
    assert -0.1 < (found - exact) / (exact - training) < 0.4
    assert logistic_root._expected_loss(data, model, penalty, 1.0) > found + 2.0


def test_blocks_of_rows_change_nothing(monkeypatch):
    X, y = noisy_classes(bend=3.0)
    whole = CurvatureTreeClassifier().fit(X, y).predict_proba(X)
    monkeypatch.setattr(logistic_models, "_BLOCK_VALUES", 1)
    np.testing.assert_allclose(CurvatureTreeClassifier().fit(X, y).predict_proba(X), whole, rtol=1e-8)


def test_a_distilled_tree_learns_probabilities():
    X, y = noisy_classes(500)
    teacher = LogisticRegression().fit(X, y)
    tree = distill(teacher, X, CurvatureTreeClassifier(max_depth=0), random_state=0)
    np.testing.assert_allclose(tree.predict_proba(X), teacher.predict_proba(X), atol=0.02)


@pytest.mark.parametrize("m, d", [(1, 1), (3, 4), (9, 5)])
def test_products_of_pairs_of_features_are_those_class_by_class(m, d, monkeypatch):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(max(m, 2)), size=40).T[:m]
    data = LogisticData(rng.normal(size=(40, d)), shares, rng.uniform(0.0, 2.0, size=40))
    model, response = rng.normal(size=(m, d)), rng.normal(size=(m * d, m * d)) / (20 * m * d)
    found = []
    for few in (True, False):
        monkeypatch.setattr(logistic_models, "_has_few_pairs", lambda m, d, few=few: few)
        found.append([*logistic_models.derivatives(data, model), *left_out_losses(data, model, response)])
    for one, other in zip(*found):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_model_of_all_samples_is_one_leaf(n_classes):
    X, y = noisy_classes(400, 6, n_classes)
    X[:, 5] = -X[:, 4] + 0.01 * X[:, 5]
    tree = CurvatureTreeClassifier(split_margin=0.0).fit(X, y)
    assert tree.get_n_leaves() == 1 and tree.get_depth() == 0 and not tree.apply(X).any()
    grown = CurvatureTreeClassifier(split_margin=0.0, leaf_model="constant").fit(X, y)
    assert grown.get_n_leaves() > 1
    root = CurvatureTreeClassifier(max_depth=0).fit(X, y)
    np.testing.assert_allclose(tree.predict_proba(X), root.predict_proba(X), rtol=1e-6)
    terms = np.square(tree.tree_.leaf_coef[0] * X.std(axis=0)).sum(axis=0)
    np.testing.assert_allclose(tree.feature_importances_, terms / terms.sum())
    assert tree.tree_.n_node_samples.tolist() == [400]
