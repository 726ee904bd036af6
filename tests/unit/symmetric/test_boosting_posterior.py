"""Knowledge uncertainty: small among the data, large where they are missing."""

import time

import numpy as np
import pytest
from fctree import SymmetricBoostingRegressor
from fctree.callbacks import max_time
from sklearn.base import clone

SETTINGS = {"posterior_samples": 12, "max_iter": 100, "max_depth": 4, "random_state": 0}


def ring(n=600, seed=0):
    """The square without the disc of radius 0.6 around its centre."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (4 * n, 2))
    X = X[np.hypot(*X.T) > 0.6][:n]
    return X, np.sin(3 * X[:, 0]) + X[:, 1] + 0.05 * rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(2))
def test_std_grows_in_a_hole_of_the_domain(seed):
    X, y = ring(seed=seed)
    model = SymmetricBoostingRegressor(**{**SETTINGS, "random_state": seed, "max_iter": 300,
                                          "learning_rate": 0.3}).fit(X, y)
    rng = np.random.default_rng(100)
    hole = 0.25 * rng.uniform(-1, 1, (200, 2))
    inside = model.predict(X, return_std=True)[1]
    away = model.predict(hole, return_std=True)[1]
    assert np.all(inside >= 0) and away.min() > 0
    assert away.mean() > 1.5 * np.median(inside)
    # Small beside the targets, whose fit the samples share.
    assert np.median(inside) < 0.2 * y.std()


def test_std_is_that_of_the_samples():
    X, y = ring()
    model = SymmetricBoostingRegressor(**SETTINGS).fit(X, y)
    assert len(model.posterior_trees_) == 12
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(X))
    samples = np.zeros((12, len(X), 1))
    for trees, out in zip(model.posterior_trees_, samples, strict=True):
        trees.add_to(X, out)
    np.testing.assert_allclose(std, samples[:, :, 0].std(axis=0, ddof=1), rtol=1e-12)
    # Each sample is a model of the targets of its own.
    for scores in samples[:, :, 0]:
        residual = y - model.baseline_[0] - scores
        assert np.mean(residual**2) < 0.25 * y.var()


def test_the_model_itself_does_not_depend_on_the_samples():
    X, y = ring()
    without = SymmetricBoostingRegressor(**{**SETTINGS, "posterior_samples": 0}).fit(X, y)
    with_them = SymmetricBoostingRegressor(**SETTINGS).fit(X, y)
    assert without.predict(X).tobytes() == with_them.predict(X).tobytes()


@pytest.mark.parametrize("stop", [{"callbacks": lambda round, scores: round == 5}, {"eval_set": ring(100, seed=1)}])
def test_samples_of_a_stopped_fit_have_its_rounds(stop):
    X, y = ring()
    settings = {**SETTINGS, "early_stopping": "eval_set" in stop, "learning_rate": 0.5}
    model = SymmetricBoostingRegressor(**{**settings, "max_iter": 1000}).fit(X, y, **stop)
    assert model.n_iter_ < 1000
    same = SymmetricBoostingRegressor(**{**settings, "max_iter": model.n_iter_}).fit(X, y, eval_set=stop.get("eval_set"))
    for got, expected in zip(model.predict(X, return_std=True), same.predict(X, return_std=True)):
        assert got.tobytes() == expected.tobytes()


def test_time_limits_are_for_the_samples_too(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def tick(round, scores):
        now[0] += 1.0

    X, y = ring(100)
    for more, n_rounds in (({}, 63), ({"posterior_samples": 10}, 3), ({"calibration_fraction": 0.2}, 21)):
        model = SymmetricBoostingRegressor(max_depth=1, **more).fit(X, y, callbacks=[tick, max_time(63)])
        assert model.n_iter_ == n_rounds


def test_several_outputs_threads_and_units():
    X, y = ring()
    Y = np.column_stack([y, X[:, 0] ** 2])
    first = SymmetricBoostingRegressor(**SETTINGS).fit(X, Y)
    std = first.predict(X, return_std=True)[1]
    assert std.shape == Y.shape
    for n_jobs in (2, 4):
        again = SymmetricBoostingRegressor(**SETTINGS, n_jobs=n_jobs).fit(X, Y)
        assert again.predict(X, return_std=True)[1].tobytes() == std.tobytes()
    scaled = SymmetricBoostingRegressor(**SETTINGS).fit(X, 8 * Y)
    np.testing.assert_allclose(scaled.predict(X, return_std=True)[1], 8 * std, rtol=1e-9)


def test_weights_and_equal_targets():
    X, y = ring()
    weight = np.random.default_rng(1).uniform(0, 2, len(X)) * (X[:, 0] > -0.5)
    model = SymmetricBoostingRegressor(**SETTINGS).fit(X, y, sample_weight=weight)
    std = model.predict(X, return_std=True)[1]
    assert std[X[:, 0] < -0.8].mean() > std[X[:, 0] > -0.5].mean()
    equal = SymmetricBoostingRegressor(**SETTINGS).fit(X, np.ones(len(X)))
    mean, std = equal.predict(X, return_std=True)
    np.testing.assert_allclose(mean, 1, rtol=1e-12)
    assert np.isfinite(std).all()


def test_samples_asked_for_after_the_fit_are_an_error():
    X, y = ring(100)
    model = SymmetricBoostingRegressor(max_iter=3).fit(X, y)
    for posterior_samples in (0, 5):
        model.set_params(posterior_samples=posterior_samples)
        with pytest.raises(ValueError, match="fitted with posterior_samples"):
            model.predict(X, return_std=True)
    fitted = clone(model).fit(X, y)
    assert fitted.predict(X, return_std=True)[1].shape == (100,)
    # A later fit without samples leaves none of the earlier ones behind.
    fitted.set_params(posterior_samples=0).fit(X, y)
    with pytest.raises(ValueError, match="fitted with posterior_samples"):
        fitted.predict(X, return_std=True)


@pytest.mark.parametrize("parameters, message", [
    ({"posterior_samples": 1}, "0 or at least 2"), ({"posterior_samples": -1}, "posterior_samples"),
    ({"posterior_samples": 4, "loss": "huber"}, "squared_error"),
])
def test_bad_parameters_are_refused(parameters, message):
    X, y = ring(50)
    with pytest.raises(ValueError, match=message):
        SymmetricBoostingRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize("value", [0.0, 3.3, 1e-6, -7e5])
def test_constant_targets_leave_nothing_unknown(value):
    X, y = ring(200)
    Y = np.column_stack([np.full(len(X), value), y])
    mean, std = SymmetricBoostingRegressor(**SETTINGS).fit(X, Y).predict(X, return_std=True)
    np.testing.assert_allclose(mean[:, 0], value, rtol=1e-14)
    np.testing.assert_array_equal(std[:, 0], 0.0)
    assert std[:, 1].min() > 0
