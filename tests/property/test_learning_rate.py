"""The learning rate that grows as long as steps hold on out-of-bag samples."""

import numpy as np
import pytest
from boosters import bytes_of
from fctree import CurvatureBoostingClassifier, CurvatureBoostingRegressor
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import log_loss

RNG = np.random.default_rng(5)
CODES = RNG.integers(0, 4, (1000, 6)).astype(float)
X, BEND = CODES + RNG.random((1000, 6)), np.sin(CODES).sum(axis=1)
SMALL = {"max_depth": 1, "step_depth": 3, "random_state": 0}


def test_it_rises_where_the_truth_has_no_noise():
    points, losses = RNG.random((4000, 6)), {}
    one_side, train, test = (points[:, 0] > 0.5) ^ (points[:, 1] > 0.5), slice(0, 2000), slice(2000, None)
    for rate in ("auto", 0.05):
        model = CurvatureBoostingClassifier(learning_rate=rate, random_state=0)
        model.fit(points[train], one_side[train])
        losses[rate] = log_loss(one_side[test], model.predict_proba(points[test]))
        assert model.learning_rates_[-1] == (0.4 if rate == "auto" else 0.05)
    assert losses["auto"] < 0.8 * losses[0.05]


@pytest.mark.parametrize("n", [100, 300])
def test_it_rises_on_few_samples_without_noise(n):
    sums = X[:n, 0] ** 2 + X[:n, 1]
    for model, y in ((CurvatureBoostingRegressor(), sums), (CurvatureBoostingClassifier(), sums > 6)):
        assert model.set_params(max_iter=101, random_state=0).fit(X[:n], y).learning_rates_[-1] == 0.1


def test_it_may_rise_late():
    """Three of twenty bits matter, and only together: trees find them late."""
    bits, losses = np.random.default_rng(1).integers(0, 2, (3000, 20)).astype(float), {}
    odd = bits[:, :3].sum(axis=1) % 2
    for rate in ("auto", 0.05):
        model = CurvatureBoostingClassifier(learning_rate=rate, random_state=0).fit(bits[:1000], odd[:1000])
        losses[rate] = log_loss(odd[1000:], model.predict_proba(bits[1000:]))
        assert model.learning_rates_[149] == 0.05 and model.learning_rates_[-1] == (0.1 if rate == "auto" else 0.05)
    assert losses["auto"] < 0.8 * losses[0.05]


@pytest.mark.parametrize("n", [60, 300, 1000])
@pytest.mark.parametrize("n_scores", [1, 3])
def test_it_stays_where_there_is_nothing_but_noise(n, n_scores):
    """Also of several scores, for which it rises for less."""
    for model, y in ((CurvatureBoostingClassifier(), RNG.integers(0, max(n_scores, 2), n)),
                     (CurvatureBoostingRegressor(), RNG.standard_normal((n, n_scores)))):
        assert (model.set_params(max_iter=210, random_state=0).fit(X[:n], y).learning_rates_ == 0.05).all()


@pytest.mark.parametrize("order, first", [(0.5, 0.05), (0.2, 0.04), (0.9, 0.03), (0.99, 0.02), (0.001, 0.02)])
def test_steps_of_quantiles_are_shorter_far_from_the_median(order, first):
    model = CurvatureBoostingRegressor(loss="quantile", quantile=order, max_iter=2, random_state=0).fit(X, BEND)
    np.testing.assert_allclose(model.learning_rates_, first)
    for constant in ({"loss": "absolute_error"}, {"loss": "huber"}, {"learning_rate": 0.05}):
        model.set_params(quantile=None if "loss" in constant else order, **constant)
        np.testing.assert_allclose(model.fit(X, BEND).learning_rates_, 0.05)
        model.set_params(loss="quantile", learning_rate="auto")


@pytest.mark.parametrize("n, options", [(20, {}), (1000, {"subsample": 1.0})])
def test_it_is_constant_without_samples_to_go_by(n, options):
    model = CurvatureBoostingRegressor(**SMALL, max_iter=160).set_params(**options)
    constant = clone(model).set_params(learning_rate=0.05)
    assert bytes_of(model.fit(X[:n], BEND[:n])) == bytes_of(constant.fit(X[:n], BEND[:n]))


@pytest.fixture(scope="module", params=[
    (CurvatureBoostingRegressor(), BEND), (CurvatureBoostingRegressor(loss="huber"), BEND),
    (CurvatureBoostingClassifier(), (X[:, 0] > 2.0).astype(int)),
    (CurvatureBoostingClassifier(), (3 * np.sin(X[:, :2])).astype(int) @ [1, 5])],
    ids=["squared", "huber", "two classes", "many classes"])
def grown_at_once(request):
    """A model, targets and the model after 170 rounds."""
    model, y = request.param
    return model, y, clone(model).set_params(**SMALL, max_iter=170).fit(X, y)


@pytest.mark.parametrize("done", [49, 50, 99, 100, 130, 160])
def test_a_model_continued_is_the_one_grown_at_once(grown_at_once, done):
    model, y, whole = grown_at_once
    parts = clone(model).set_params(**SMALL, max_iter=done, warm_start=True).fit(X, y)
    parts.set_params(max_iter=170).fit(X, y)
    assert bytes_of(whole) == bytes_of(parts)
    np.testing.assert_array_equal(parts.learning_rates_, whole.learning_rates_)
    assert (whole.learning_rates_[:100] == 0.05).all() and whole.learning_rates_[100] == 0.1


def test_a_loss_without_values_goes_by_its_derivatives():
    def squared(y, scores):
        return scores - y, np.ones_like(y)

    y = np.abs(X).sum(axis=1)
    y = (y - y.mean()) / y.std()  # rows are drawn by targets in units of their deviation, of a custom loss as they are
    built_in = CurvatureBoostingRegressor(**SMALL, max_iter=120).fit(X, y)
    custom = clone(built_in).set_params(loss=squared).fit(X, y)
    np.testing.assert_array_equal(custom.tree_kinds_, built_in.tree_kinds_)
    np.testing.assert_array_equal(custom.learning_rates_, built_in.learning_rates_)
    assert custom.learning_rates_[-1] == 0.1


def test_other_features_do_not_change_past_decisions():
    """As for an importance, which goes on without a feature: all samples are others then."""
    y = X[:, 0] + RNG.standard_normal(len(X))
    model = CurvatureBoostingRegressor(**SMALL, max_iter=120, warm_start=True).fit(X, y)
    without = np.where(np.arange(6) == 5, X.mean(axis=0), X)
    model.set_params(max_iter=200).fit(without, y)
    assert (model.learning_rates_ == 0.05).all()


def test_threads_do_not_matter():
    models = [CurvatureBoostingRegressor(**SMALL, max_iter=160, n_jobs=n_jobs).fit(X, BEND)
              for n_jobs in (1, 2, 4)]
    assert all(bytes_of(models[0]) == bytes_of(other) for other in models[1:])


def test_two_equal_samples_are_one_of_twice_the_weight():
    """Limits on numbers of samples count rows."""
    each, y = RNG.uniform(0.5, 1.5, len(X)), X[:, 0] + X[:, 1] ** 2
    model = CurvatureBoostingRegressor(**{**SMALL, "step_depth": None}, max_iter=110, min_samples_leaf=1)
    weighted = clone(model).fit(X, y, sample_weight=2 * each)
    copied = clone(model).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2), np.repeat(each, 2))
    assert weighted.learning_rates_[-1] == copied.learning_rates_[-1] > 0.05
    np.testing.assert_allclose(weighted.predict(X), copied.predict(X), rtol=0, atol=1e-6 * y.max())


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_values=st.sampled_from([1, 2, 30, 10_000]),
       subsample=st.sampled_from([1e-3, 0.5, 0.99]), zeros=st.booleans())
def test_any_samples(seed, n_values, subsample, zeros):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, n_values, (1000, 3)).astype(float)
    weight = (rng.random(1000) < 0.1) + 0.0 if zeros else None
    model = CurvatureBoostingRegressor(**SMALL, max_iter=101, subsample=subsample)
    model.fit(values, values.sum(axis=1), sample_weight=weight)
    assert model.learning_rates_[-1] in (0.05, 0.1)
    assert np.isfinite(model.predict(values)).all()
