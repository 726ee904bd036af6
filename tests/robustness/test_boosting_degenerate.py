"""Degenerate data are ordinary cases: constant, alone, missing, huge, tiny, few."""

import numpy as np
import pytest
from fctree import CurvatureBoostingRegressor, SymmetricBoostingClassifier, SymmetricBoostingRegressor
from loss_cases import LOG_LINK_LOSSES, REGRESSION_LOSSES, loss_parameters
from fctree._training.losses import LOSSES

SETTINGS = [
    {},
    {"score_noise": "gumbel"},
    {"random_strength": 0.0, "l2_leaf_reg": 0.0, "score_function": "cosine"},
    {"subsample": 0.05, "colsample": 0.01, "l2_leaf_reg": 0.0},
    {"score_noise": "gumbel", "subsample": 0.05, "l2_leaf_reg": 0.0, "max_depth": 8},
]


def table(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.exp(X[:, 0] + 0.1 * rng.standard_normal(n))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_one_sample(loss, settings):
    model = SymmetricBoostingRegressor(**loss_parameters(loss), max_iter=5, **settings)
    model.fit([[1.0, 2.0]], [3.0])
    np.testing.assert_allclose(model.predict([[0.0, 0.0], [np.nan, 9.0]]), 3.0, rtol=1e-12)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_constant_features(loss, settings):
    _, y = table()
    model = SymmetricBoostingRegressor(**loss_parameters(loss), max_iter=5, **settings)
    model.fit(np.ones((80, 4)), y)
    assert not (model.trees_.split_feature >= 0).any()
    assert np.isfinite(model.predict(np.zeros((2, 4)))).all()
    assert not model.feature_importances_.any()
    assert not model.apply(np.zeros((2, 4))).any()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_equal_targets(loss, settings):
    X, _ = table()
    model = SymmetricBoostingRegressor(**loss_parameters(loss), max_iter=5, **settings)
    model.fit(X, np.full(80, 0.1))
    np.testing.assert_allclose(model.predict(X), 0.1, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:training diverged")
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_every_loss_stays_finite_and_learns(loss, settings):
    X, y = table(300)
    settings = {"random_strength": 0.01, **settings, "learning_rate": 0.5}
    model = SymmetricBoostingRegressor(**loss_parameters(loss, quantile=0.9), max_iter=60, **settings)
    model.fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.train_score_).all()
    if "subsample" not in settings:  # fifteen samples a tree teach nothing
        assert model.train_score_[-1] > model.train_score_[0]


def test_one_class():
    X, _ = table()
    for labels in (np.full(80, "only"), np.ones(80, dtype=int), np.zeros(80, dtype=bool)):
        model = SymmetricBoostingClassifier(max_iter=3).fit(X, labels)
        assert np.all(model.predict(X) == labels[0])
        assert model.predict(X).dtype == labels.dtype
        np.testing.assert_array_equal(model.predict_proba(X), np.ones((80, 1)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_separated_classes_stay_finite(n_classes):
    X = np.repeat(np.arange(n_classes), 30)[:, None].astype(float)
    model = SymmetricBoostingClassifier(max_iter=500, learning_rate=1.0, l2_leaf_reg=0.0)
    model.fit(X, X[:, 0])
    p = model.predict_proba(X)
    assert np.isfinite(p).all() and np.isfinite(model.decision_function(X)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert model.score(X, X[:, 0]) == 1


def test_a_class_without_weight_keeps_its_place():
    X, y = table()
    labels = np.arange(80) % 3
    model = SymmetricBoostingClassifier(max_iter=5).fit(X, labels, sample_weight=labels != 1)
    p = model.predict_proba(X)
    assert p.shape == (80, 3) and np.all(p[:, 1] < 1e-6) and np.isfinite(p).all()


@pytest.mark.parametrize("noise", ["normal", "gumbel"])
def test_fewer_candidates_and_samples_than_levels(noise):
    X = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    model = SymmetricBoostingRegressor(max_iter=20, max_depth=16, score_noise=noise, l2_leaf_reg=0,
                                       learning_rate=1.0)
    model.fit(X, [1.0, 2.0, 4.0])
    assert model.trees_.leaf_values.shape == (20, 2**16, 1)
    np.testing.assert_allclose(model.predict(X), [1.0, 2.0, 4.0], rtol=1e-9)
    assert np.all(np.count_nonzero(model.trees_.split_feature >= 0, axis=1) <= 2)


def test_more_samples_in_a_leaf_than_there_are():
    X, y = table()
    model = SymmetricBoostingRegressor(min_samples_leaf=41, max_iter=3).fit(X, y)
    assert not (model.trees_.split_feature >= 0).any()
    np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-9)
    model = SymmetricBoostingRegressor(min_samples_leaf=10**12, max_iter=3).fit(X, y)
    assert not (model.trees_.split_feature >= 0).any()


@pytest.mark.parametrize("exponent", [-500, -160, -60, 60, 160, 400, 500])
@pytest.mark.parametrize("noise", [True, False])
@pytest.mark.parametrize("score_function", ["l2", "cosine"])
def test_the_unit_of_the_targets_does_not_matter(score_function, exponent, noise):
    """Powers of two scale every number exactly, as long as none over- or underflows."""
    X, y = table(200)
    settings = {"max_iter": 10, "random_strength": 1.0 if noise else 0.0,
                "score_function": score_function, "random_state": 0}
    expected = SymmetricBoostingRegressor(**settings).fit(X, y)
    scaled = SymmetricBoostingRegressor(**settings).fit(X, np.ldexp(y, exponent))
    np.testing.assert_array_equal(scaled.trees_.split_feature, expected.trees_.split_feature)
    np.testing.assert_array_equal(np.ldexp(scaled.predict(X), -exponent), expected.predict(X))


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
@pytest.mark.parametrize("scale", [1e151, 1e153, 1e300])
def test_targets_whose_sums_overflow_are_refused(loss, scale):
    X, y = table(2000)
    with pytest.raises(ValueError, match="targets.*are too large"):
        SymmetricBoostingRegressor(loss=loss, max_iter=5).fit(X, y * scale)


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e300, 1e308])
def test_the_unit_of_the_features_does_not_matter(scale):
    X, y = table(200)
    X = np.round(X, 2)
    settings = {"max_iter": 5, "random_state": 0, "max_bins": 16}
    X = np.clip(X, -1, 1)
    model = SymmetricBoostingRegressor(**settings).fit(X * scale, y)
    assert np.isfinite(model.predict(X * scale)).all()
    assert model.score(X * scale, y) > 0.2


@pytest.mark.parametrize("weight", [1e-60, 1e-30, 1e30, 1e60])
def test_the_unit_of_the_weights_is_that_of_the_penalty(weight):
    """Of large ones; small ones are scaled to those of a mean of 1."""
    X, y = table(200)
    settings = {"max_iter": 10, "random_strength": 0.0}
    scale = 2.0 ** np.round(np.log2(weight))
    expected = SymmetricBoostingRegressor(**settings, l2_leaf_reg=1.0).fit(
        X, y, sample_weight=np.ones(200))
    scaled = SymmetricBoostingRegressor(**settings, l2_leaf_reg=max(scale, 1.0)).fit(
        X, y, sample_weight=np.full(200, scale))
    np.testing.assert_allclose(scaled.predict(X), expected.predict(X), rtol=1e-12)


@pytest.mark.parametrize("strength", [1e-300, 1e100, 1.7e308])
@pytest.mark.parametrize("noise", ["normal", "gumbel"])
def test_any_strength_of_the_noise(strength, noise):
    X, y = table()
    model = SymmetricBoostingRegressor(max_iter=20, random_strength=strength, score_noise=noise)
    assert np.isfinite(model.fit(X, y).predict(X)).all()


@pytest.mark.parametrize("rate", [1e-300, 1.0, 2.0])
def test_any_learning_rate(rate):
    X, y = table()
    for loss in LOG_LINK_LOSSES:
        model = SymmetricBoostingRegressor(loss=loss, learning_rate=rate, max_iter=20)
        assert not np.isnan(model.fit(X, y).predict(X)).any()


@pytest.mark.parametrize("loss", LOG_LINK_LOSSES)
@pytest.mark.parametrize("l2_leaf_reg", [0.0, 3.0])
def test_targets_of_many_magnitudes(loss, l2_leaf_reg):
    """Newton steps of exponentials would leap beyond all numbers."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 3))
    y = np.exp(X[:, 0] + 3 * rng.standard_normal(2000))
    if LOSSES[loss].domain == "non_negative":
        y = np.where(rng.random(2000) < 0.9, 0.0, y)
    y[0], X[0] = 1e7, 9.0
    model = SymmetricBoostingRegressor(loss=loss, l2_leaf_reg=l2_leaf_reg, max_iter=50,
                                       random_strength=0.0)
    model.fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    # Where one target is most of the total, what balances the model costs others a little.
    assert np.all(np.diff(model.train_score_) > -0.003 * np.ptp(model.train_score_))


def test_a_loss_that_overflows_is_an_error():
    X, y = table()
    with pytest.raises(ValueError, match="loss is not finite after 0 rounds"):
        SymmetricBoostingRegressor().fit(X, y * 1e200)
    model = SymmetricBoostingRegressor(max_iter=20_000, max_depth=2, learning_rate=1e3)
    with pytest.raises(ValueError, match="learning_rate are too large"):
        model.fit(X, y)
    assert not hasattr(model, "trees_")


@pytest.mark.parametrize("model", [SymmetricBoostingRegressor, CurvatureBoostingRegressor])
@pytest.mark.parametrize("n_high", [1, 80])
def test_means_that_overflow_are_an_error(model, n_high):
    X, y = table()
    logarithms = np.where(np.arange(80) < n_high, 800.0, 0.0)
    with pytest.raises(ValueError, match="init_score or learning_rate are too large"):
        model(loss="poisson", max_iter=5).fit(X, y, init_score=logarithms)


def test_infinities_in_the_features():
    X, y = table(200)
    X[:20], X[20:30] = np.inf, -np.inf
    y[:20], y[20:30] = 30.0, -30.0
    model = SymmetricBoostingRegressor(max_iter=60).fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.isfinite(model.predict(np.array([[np.inf, -np.inf, np.nan]]))).all()


def test_huge_l2_and_tiny_subsample():
    X, y = table()
    model = SymmetricBoostingRegressor(l2_leaf_reg=1e300, max_iter=3).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-12)
    model = SymmetricBoostingRegressor(subsample=1e-9, max_iter=3).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-12)
