"""Small problems whose tree is known by hand, and functions whose directions are planted."""

import numpy as np
import pytest
from fctree import CurvatureTreeRegressor, FCODTClassifier, FCODTRegressor


def angle(a, b):
    """Degrees between two lines."""
    return np.degrees(np.arccos(min(1.0, abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b))))


def test_four_points_by_hand():
    """x = 0, 1, 2, 3 with y = 0, 0, 1, 1: slope 2 / (5 + alpha), the cut at x = 1.5."""
    x, y = np.arange(4.0)[:, None], np.array([0.0, 0.0, 1.0, 1.0])
    model = FCODTRegressor(alpha=3.0, max_depth=1, leaf_model="constant").fit(x, y)
    tree = model.tree_
    # x centred is -1.5 .. 1.5: sum of squares 5, product with y centred 2.
    np.testing.assert_allclose(tree.coef[0], [0.25], rtol=1e-15)
    np.testing.assert_allclose(tree.intercept[0], 0.5 - 0.25 * 1.5, rtol=1e-15)
    np.testing.assert_allclose(tree.threshold[0], 0.25 * 1.5, rtol=1e-15)
    np.testing.assert_array_equal(tree.value[:, 0, 0], [0.5, 0.0, 1.0])
    np.testing.assert_array_equal(tree.impurity, [0.25, 0.0, 0.0])
    np.testing.assert_array_equal(tree.n_node_samples, [4, 2, 2])
    np.testing.assert_array_equal(model.predict(x), y)
    np.testing.assert_array_equal(model.feature_importances_, [1.0])


def test_the_concatenated_penalty_by_hand():
    """One feature: the child's penalty on its slope is alpha / (1 + w^2), w the root's."""
    x = np.array([-4.0, -3.0, -2.0, 2.0, 3.0, 4.0])[:, None]
    y = np.array([1.0, 2.0, 4.0, 20.0, 22.0, 23.0])
    alpha = 2.0
    root = (x[:, 0] @ (y - y.mean())) / (x[:, 0] @ x[:, 0] + alpha)
    for concatenate, penalty in ((True, alpha / (1 + root**2)), (False, alpha)):
        model = FCODTRegressor(alpha=alpha, max_depth=1, feature_concatenation=concatenate)
        tree = model.fit(x, y).tree_
        np.testing.assert_allclose(tree.coef[0, 0], root, rtol=1e-14)
        left, right = x[:3, 0] - x[:3].mean(), x[3:, 0] - x[3:].mean()
        slopes = [c @ y[part] / (c @ c + penalty)
                  for c, part in ((left, slice(0, 3)), (right, slice(3, 6)))]
        np.testing.assert_allclose(tree.coef[1:, 0], slopes, rtol=1e-13)


def test_weights_by_hand():
    """A heavy sample moves the means and the cut."""
    x, y = np.arange(3.0)[:, None], np.array([0.0, 1.4, 3.0])
    fit = FCODTRegressor(alpha=0.0, max_depth=1, leaf_model="constant").fit
    # Between-weights w_L w_R / w (difference of means)^2: {0 | 1.4, 3} 3.23, {0, 1.4 | 3} 3.53.
    np.testing.assert_allclose(fit(x, y).predict(x), [0.7, 0.7, 3.0], rtol=1e-15)
    # With weight 10 on the first: 8.07 and 7.57.
    heavy = fit(x, y, sample_weight=[10.0, 1.0, 1.0])
    np.testing.assert_allclose(heavy.tree_.value[0, 0, 0], 4.4 / 12, rtol=1e-15)
    np.testing.assert_allclose(heavy.predict(x), [0.0, 2.2, 2.2], rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("n_samples", [255, 300, 2048, 5000, 70_000])
@pytest.mark.parametrize("shape", ["even", "ties", "tails"])
def test_the_cut_is_the_best_of_all(n_samples, shape):
    """However scores are sorted: many or few, equal ones among them, or nearly all close to one."""
    rng = np.random.default_rng(n_samples)
    x = {
        "even": rng.uniform(size=n_samples),
        "ties": rng.integers(0, 40, n_samples).astype(float),
        "tails": rng.standard_cauchy(n_samples),
    }[shape]
    y = np.sin(5.0 * rng.normal() + 3.0 * np.arctan(x)) + 0.1 * rng.normal(size=n_samples)
    tree = FCODTRegressor(max_depth=1, leaf_model="constant").fit(x[:, None], y).tree_
    order = np.argsort(x, kind="stable")
    sums, left = np.cumsum((y - y.mean())[order])[:-1], np.arange(1.0, n_samples)
    apart = np.diff(x[order]) > 1.001e-10 * np.ptp(x)
    gains = np.where(apart, sums**2 / (left * (n_samples - left)), 0.0)
    n_below = tree.n_node_samples[1 if tree.coef[0, 0] > 0 else 2]
    assert gains[n_below - 1] >= gains.max() * (1.0 - 1e-9)


def test_two_classes_by_hand():
    x, y = np.arange(6.0)[:, None], np.array(["a", "a", "a", "b", "b", "b"])
    model = FCODTClassifier(max_depth=1, leaf_model="constant").fit(x, y)
    np.testing.assert_array_equal(model.tree_.impurity, [0.5, 0.0, 0.0])
    np.testing.assert_array_equal(model.tree_.value[:, 0], [[0.5, 0.5], [1, 0], [0, 1]])
    assert model.tree_.coef[0, 0] > 0  # the score is that of the second class
    np.testing.assert_array_equal(model.predict(x), y)


def test_a_pure_tree_stops_by_itself():
    """Two plateaus need two leaves, whatever depth is allowed; rounding is no impurity."""
    rng = np.random.default_rng(140)
    X = rng.uniform(-1, 1, (500, 4))
    for low, high in ((0.0, 1.0), (0.1, 0.7), (1e6 + 0.1, 1e6 + 0.3)):
        y = np.where(X[:, 0] > 0.2, high, low)
        model = FCODTRegressor(max_depth=None, leaf_model="constant", alpha=1e-3)
        # One feature only: the cut can be exact.
        assert model.fit(X[:, :1], y).get_n_leaves() == 2
    assert FCODTClassifier(max_depth=None).fit(X[:, :1], X[:, 0] > 0.2).get_n_leaves() == 2


@pytest.mark.parametrize("n_features", [2, 5, 20])
def test_a_planted_step_is_found(n_features):
    rng = np.random.default_rng(141)
    X = rng.standard_normal((3000, n_features))
    direction = rng.standard_normal(n_features)
    y = np.where(X @ direction > 0.5 * np.linalg.norm(direction), 3.0, -1.0)
    tree = FCODTRegressor(max_depth=1, leaf_model="constant").fit(X, y).tree_
    # For normal features least squares is consistent for the direction: the error of each
    # coordinate is some 1 / sqrt(3000), a degree.
    assert angle(tree.coef[0], direction) < 2 + np.sqrt(n_features)
    cut = tree.threshold[0] / np.linalg.norm(tree.coef[0])
    assert cut == pytest.approx(0.5, abs=0.1)
    assert set(np.sign(tree.value[1:, 0, 0])) == {-1.0, 1.0}


def test_a_hinge_is_two_lines():
    """y = |x|-like with a slope: the ridge leaves recover both lines exactly."""
    x = np.concatenate([np.linspace(-1, -0.01, 150), np.linspace(0.01, 1, 150)])[:, None]
    y = np.where(x[:, 0] > 0, 5 * x[:, 0] + 10, x[:, 0])
    model = FCODTRegressor(alpha=0.0, max_depth=1).fit(x, y)
    np.testing.assert_allclose(model.tree_.coef[1:, 0], [1.0, 5.0], rtol=1e-10)
    np.testing.assert_allclose(model.tree_.intercept[1:], [0.0, 10.0], atol=1e-10)
    np.testing.assert_allclose(model.predict(x), y, atol=1e-10)


def test_the_better_of_two_outputs_is_cut():
    """The second output is the one with something to gain from a cut."""
    rng = np.random.default_rng(142)
    X = rng.uniform(-1, 1, (400, 2))
    Y = np.column_stack([0.1 * X[:, 0], np.where(X[:, 1] > 0, 5.0, -5.0)])
    tree = FCODTRegressor(max_depth=1).fit(X, Y).tree_
    assert tree.split_output[0] == 1
    assert angle(tree.coef[0], np.array([0.0, 1.0])) < 10


def test_min_samples_leaf_moves_the_cut():
    x = np.arange(10.0)[:, None]
    y = np.array([9.0] + [0.0] * 9)
    free, bound = (FCODTRegressor(max_depth=1, min_samples_leaf=n, leaf_model="constant")
                   .fit(x, y).tree_.n_node_samples for n in (1, 4))
    assert sorted(free[1:]) == [1, 9]
    assert sorted(bound[1:]) == [4, 6]


def test_min_impurity_decrease_is_in_units_of_the_impurity():
    """Two equal plateaus 0 and 1: the decrease at the root is 0.25, its whole impurity."""
    x, y = np.arange(8.0)[:, None], np.repeat([0.0, 1.0], 4)
    for limit, leaves in ((0.2499, 2), (0.2501, 1)):
        model = FCODTRegressor(min_impurity_decrease=limit, leaf_model="constant")
        assert model.fit(x, y).get_n_leaves() == leaves
        assert model.fit(x, np.column_stack([y, y, y])).get_n_leaves() == leaves
    for limit, leaves in ((0.4999, 2), (0.5001, 1)):  # Gini of two halves
        model = FCODTClassifier(min_impurity_decrease=limit, leaf_model="constant")
        assert model.fit(x, y.astype(int)).get_n_leaves() == leaves


@pytest.mark.parametrize("n, most", [(2000, 0), (80_000, 20)])
def test_a_step_is_cut_between_the_samples_beside_it(n, most):
    """Not at the nearest of 32 quantiles; of more than 65,536 samples, beside those of a sample of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = np.where(X[:, 0] > 0.3, 100.0, 0.0) + X[:, 1] + 0.1 * rng.standard_normal(n)
    tree = CurvatureTreeRegressor(max_coef=1).fit(X, y).tree_
    misplaced = (X @ tree.coef[0] > tree.threshold[0]) != (X[:, 0] > 0.3)
    assert misplaced.sum() <= most


def test_three_of_many_features_of_few_samples():
    n = 60
    X = np.random.default_rng(0).standard_normal((n + 1000, 2000))
    truth = X[:, :3].sum(axis=1)
    y = truth + 0.3 * np.random.default_rng(1).standard_normal(len(X))
    assert CurvatureTreeRegressor().fit(X[:n], y[:n]).score(X[n:], truth[n:]) > 0.9


@pytest.mark.parametrize("seed", [0, 1, 3])
@pytest.mark.parametrize("n_relevant, least, most", [(3, 1, 8), (1000, 1000, 1000)])
def test_few_of_a_thousand_features_or_all(n_relevant, least, most, seed):
    rng = np.random.default_rng(seed)
    X, noise = rng.standard_normal((60, 1000)), rng.standard_normal(60)
    truth = X[:, :n_relevant].sum(axis=1)
    tree = CurvatureTreeRegressor().fit(X, truth / truth.std() + 0.5 * noise).tree_
    assert least <= np.count_nonzero(tree.leaf_coef[:, 0].any(axis=0)) <= most
