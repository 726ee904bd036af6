"""Losses with a log link: the predictions of the training samples have the sum of the targets, and models of skewed
targets that are as good as that makes them."""

import numpy as np
import pytest
from fctree import CurvatureBoostingRegressor, SymmetricBoostingRegressor
from loss_cases import LOG_LINK_LOSSES, loss_parameters
from sklearn.metrics import mean_gamma_deviance, mean_tweedie_deviance

KINDS = [CurvatureBoostingRegressor, SymmetricBoostingRegressor]
each_kind = pytest.mark.parametrize("kind", KINDS)
each_loss = pytest.mark.parametrize("loss", LOG_LINK_LOSSES)
# Sums of some hundred numbers of leaves, whose logarithms were added up.
ROUNDING = 1e-11


def samples(n=400, n_outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 4))
    y = rng.gamma(2, np.exp(X[:, :1] + np.sin(3 * X[:, 1:2]) + np.arange(n_outputs)) / 2)
    return X, y[:, 0] if n_outputs == 1 else y, rng.uniform(0.2, 3, n)


def assert_balanced(model, X, y, weight, rtol=ROUNDING):
    np.testing.assert_allclose(weight @ model.predict(X), weight @ y, rtol=rtol)


@each_kind
@each_loss
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_totals_are_those_of_the_targets(kind, loss, n_outputs):
    X, y, weight = samples(n_outputs=n_outputs)
    model = kind(**loss_parameters(loss), max_iter=30, random_state=0).fit(X, y, sample_weight=weight)
    assert_balanced(model, X, y, weight)
    for predicted in model.staged_predict(X):
        np.testing.assert_allclose(weight @ predicted, weight @ y, rtol=ROUNDING)


@each_kind
@each_loss
@pytest.mark.parametrize("parameters", [{"subsample": 0.5}, {"learning_rate": 1.0, "l2_leaf_reg": 30.0}])
def test_totals_of_any_steps(kind, loss, parameters):
    X, y, weight = samples()
    model = kind(**loss_parameters(loss), max_iter=10, random_state=1, **parameters)
    assert_balanced(model.fit(X, y, sample_weight=weight), X, y, weight)


@each_kind
@each_loss
@pytest.mark.parametrize("offset", [-30.0, -10.0, 10.0])
def test_the_level_of_scores_of_their_own_does_not_matter(kind, loss, offset):
    """The logarithm of an exposure in any unit."""
    X, y, weight = samples()
    exposure = np.random.default_rng(1).uniform(0, 3, len(X))
    model = kind(**loss_parameters(loss), max_iter=20, random_state=0)
    scores = [np.log(model.fit(X, y, sample_weight=weight, init_score=exposure + shift).predict(X)) + shift
              for shift in (0.0, offset)]
    assert np.std(scores[0]) > 0.2
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-6)


@each_kind
@each_loss
def test_totals_of_samples_with_scores_of_their_own(kind, loss):
    """Also where the scores that training starts with are far from it."""
    X, y, weight = samples()
    start = 1.0 + X[:, 2]
    model = kind(**loss_parameters(loss), max_iter=5, random_state=0)
    model.fit(X, y, sample_weight=weight, init_score=start)
    np.testing.assert_allclose(weight @ np.exp(start + np.log(model.predict(X))), weight @ y, rtol=ROUNDING)


@each_kind
@each_loss
@pytest.mark.parametrize("offset", [0.0, 1e11])
def test_a_model_that_goes_on_is_balanced_too(kind, loss, offset):
    X, y, weight = samples()
    X[:, 1] += offset
    model = kind(**loss_parameters(loss), max_iter=10, random_state=0, warm_start=True)
    model.fit(X, y, sample_weight=weight)
    model.set_params(max_iter=20).fit(X, y, sample_weight=weight)
    assert_balanced(model, X, y, weight, ROUNDING + 1e-17 * offset)  # what the offset leaves of linear leaves
    at_once = kind(**loss_parameters(loss), max_iter=20, random_state=0).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.predict(X), at_once.predict(X))


# .051 and .032 without balance and with hessians that depend on the targets; totals were .88 and .93.
@pytest.mark.parametrize("kind, most", [(CurvatureBoostingRegressor, 0.045), (SymmetricBoostingRegressor, 0.032)])
def test_gamma_deviance_of_skewed_targets(kind, most):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (12000, 6))
    mean = np.exp(X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3])
    y = rng.gamma(2, mean / 2)
    predicted = kind(loss="gamma", random_state=0).fit(X[:2000], y[:2000]).predict(X[2000:])
    assert mean_gamma_deviance(mean[2000:], predicted) < most
    assert abs(predicted.mean() / mean[2000:].mean() - 1) < 0.03


# Totals were .53 and .66 of the training samples', deviances .075 and .061.
@each_kind
def test_totals_of_rare_claims(kind):
    rng = np.random.default_rng(0)
    X, exposure = rng.normal(size=(20000, 6)), rng.uniform(0.1, 1, 20000)
    mean = 0.02 * np.exp(0.6 * X[:, 0] + 0.5 * np.sin(2 * X[:, 1]))
    y = np.array([rng.gamma(1, 1, n).sum() for n in rng.poisson(mean * exposure)]) / exposure
    model = kind(loss="tweedie", random_state=0).fit(X[:10000], y[:10000], sample_weight=exposure[:10000])
    predicted = model.predict(X[10000:])
    wanted = np.average(y[:10000], weights=exposure[:10000])
    assert abs(predicted.mean() / wanted - 1) < 0.1
    assert mean_tweedie_deviance(mean[10000:], predicted, power=1.5) < 0.05


@pytest.mark.parametrize(("loss", "least"), [("tweedie", 0.005), ("poisson", 0.02)])
def test_samples_of_small_means_are_not_left_to_the_models_of_others(loss, least):
    """Machines that idle count nothing, and lie far out in the other features."""
    rng = np.random.default_rng(0)
    n = 2400
    X = np.exp(1.5 * rng.normal(size=(n, 4)))
    share = X[:, 0] / (X[:, 0] + 3 * X[:, 1])
    idle = rng.uniform(size=n) < 0.04
    X[idle, 2:] *= 30
    X[idle, 0] = 0
    y = np.where(idle, 0, np.round(100 * rng.beta(20 * (1 - 0.8 * share), 4)))
    fit, rest = np.arange(n) < n // 2, np.arange(n) >= n // 2
    model = CurvatureBoostingRegressor(loss=loss, random_state=0, n_jobs=1).fit(X[fit], y[fit])
    predicted = model.predict(X[rest & idle])
    assert 1e-6 < predicted.min() and least < np.median(predicted) and predicted.max() < 0.5 * y.mean()


@each_kind
@pytest.mark.filterwarnings("ignore:early stopping kept no round")
@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
def test_targets_without_weight_or_held_out_are_none(kind, loss):
    X, y, weight = samples()
    y[20:], weight[:20] = 0.0, 0.0
    message = "positive sum among the samples of positive weight that are not held out"
    model = kind(loss=loss, max_iter=5, random_state=0)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=weight)
    y[1:], failed = 0.0, 0  # one claim: some splits hold it out
    for seed in range(20):
        model.set_params(early_stopping=True, validation_fraction=0.5, random_state=seed)
        try:
            model.fit(X, y)
        except ValueError as error:
            assert message in str(error)
            failed += 1
    assert 0 < failed < 20
