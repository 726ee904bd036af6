"""Training against its NumPy twin, and the theory of wide ensembles."""

import numpy as np
import pytest
from fctree import SoftTreeRegressor
from reference import literal_soft_training
from reference.tree_comparison import smooth_table

X, Y = smooth_table(40, 3, 2, seed=11)
WEIGHT = np.random.default_rng(1).uniform(0.5, 2.0, 40)
SETTINGS = {"n_trees": 2, "depth": 3, "learning_rate": 0.05, "random_state": 3}


@pytest.mark.parametrize("of_splits, of_leaves", [(0.0, 0.0), (0.01, 0.0), (0.0, 5.0)])
@pytest.mark.parametrize("gamma", [0.3, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_full_batch_training(of_splits, of_leaves, gamma, weighted):
    n_steps = 12
    weight = WEIGHT if weighted else np.ones(40)
    settings = {**SETTINGS, "gamma": gamma, "l2_regularization": of_splits,
                "l2_leaf_reg": of_leaves}
    model = SoftTreeRegressor(**settings, max_epochs=n_steps)
    # The weights at the start are those of a model that one step of no length leaves alone.
    start = SoftTreeRegressor(**{**settings, "learning_rate": 1e-300}, max_epochs=1).fit(X, Y)
    splits, leaves = start._state["split_weights"].copy(), start.leaf_weights_.copy()
    model.fit(X, Y, sample_weight=weight if weighted else None)
    penalties = of_splits, of_leaves / (2 * weight.sum())
    mean = np.average(Y, axis=0, weights=weight)
    deviation = np.sqrt(np.average((Y - mean) ** 2, axis=0, weights=weight))
    losses = literal_soft_training.train(
        X, (Y - mean) / deviation, weight, splits, leaves, gamma=gamma, learning_rate=0.05,
        penalties=penalties, n_steps=n_steps,
    )
    # Adam's quotients magnify the rounding of small gradients.
    np.testing.assert_allclose(model.loss_curve_, losses, rtol=1e-7)
    np.testing.assert_allclose(model._state["split_weights"], splits, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(model.leaf_weights_, leaves, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(model.baseline_, mean)
    np.testing.assert_allclose(model.output_scale_, deviation)


def test_running_moments_are_means_over_the_batches():
    model = SoftTreeRegressor(batch_size=10, max_epochs=1, random_state=0).fit(X, Y)
    # Four batches of ten, the mean of four means: that of all samples.
    np.testing.assert_allclose(model.feature_means_, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.feature_variances_, X.var(axis=0), rtol=1e-12)


def test_running_moments_forget():
    model = SoftTreeRegressor(max_epochs=1)
    for _ in range(100):
        model.partial_fit(X, Y)
    for _ in range(1000):
        model.partial_fit(X + 5.0, Y)
    np.testing.assert_allclose(model.feature_means_, X.mean(axis=0) + 5.0, atol=0.01)


def test_single_rows_take_the_moments_so_far():
    """By its own a row is 0 in all features: nothing would be learned."""
    X = np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 100.0]
    y = X[:, 0] + np.abs(X[:, 1] - 5.0) / 10.0
    model = SoftTreeRegressor(batch_size=1, max_epochs=20, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    # The batches of an epoch of three rows have two and one.
    three = SoftTreeRegressor(batch_size=2, max_epochs=1, random_state=0).fit(X[:3], y[:3])
    assert np.all(np.isfinite(three.predict(X[:3])))


def test_partial_fits_of_single_rows_learn():
    X = np.random.default_rng(0).normal(size=(300, 2)) * [1.0, 10.0]
    y = X[:, 0] + np.abs(X[:, 1]) / 10.0
    model = SoftTreeRegressor(l2_leaf_reg=0.0, random_state=0)
    for _ in range(5):
        for i in range(len(X)):
            model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert model.score(X, y) > 0.8
