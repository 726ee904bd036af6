"""Statistics of categories are of what the scores that samples start from leave."""

import numpy as np
import pandas as pd
import pytest
from boosters import CLASSIFIERS, REGRESSORS
from fctree._tables.offsets import relative_targets
from sklearn.metrics import log_loss


def drawn(seed=0, n=1000, n_levels=30):
    """Levels, a table of them and a number, scores that go against the levels' effects, and these."""
    rng = np.random.default_rng(seed)
    code, effect = rng.integers(n_levels, size=n), np.random.default_rng(9).normal(size=n_levels)
    X = pd.DataFrame({"c": [f"{v:02}" for v in code], "x": rng.normal(size=n)})
    return rng, X, -effect[code] + 0.3 * rng.normal(size=n), effect[code]


def assert_same_statistics(ours, theirs):
    assert ours.layout() == theirs.layout()
    for name in ("priors", "units"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9)
    for name in ("strengths", "statistics", "pair_statistics"):
        for one, other in zip(getattr(ours, name), getattr(theirs, name), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("model", REGRESSORS)
@pytest.mark.parametrize(("loss", "power"), [("poisson", 1.0), ("gamma", 2.0), (("tweedie", 1.5), 1.5)])
def test_offsets_of_log_links_are_exposures(model, loss, power):
    rng, X, scores, effect = drawn()
    exposure = np.exp(scores)
    y = rng.poisson(np.exp(effect) * exposure) + (0.5 if power == 2.0 else 0.0)
    fit = model(loss=loss, max_iter=2).fit
    found = fit(X, y, init_score=scores).encoder_
    assert_same_statistics(found, fit(X, y / exposure, sample_weight=(exposure / exposure.max()) ** (2.0 - power)).encoder_)
    assert np.corrcoef(found.transform(np.c_[X["c"].astype(int), X["x"]])[:, 0], np.exp(effect))[0, 1] > 0.8


@pytest.mark.parametrize("model", REGRESSORS)
@pytest.mark.parametrize("loss", ["squared_error", "huber", "absolute_error"])
def test_offsets_of_identity_links_are_subtracted(model, loss):
    rng, X, scores, effect = drawn()
    y = effect + rng.normal(size=len(X))
    fit = model(loss=loss, max_iter=2).fit
    assert_same_statistics(fit(X, y + scores, init_score=scores).encoder_, fit(X, y).encoder_)


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_learned_beside_their_offsets(model, n_classes):
    losses = []
    for seed in (0, 1):
        rng, X, scores, effect = drawn(seed, 4000)
        if n_classes == 3:
            scores, effect = np.c_[scores, 0 * scores, 0 * scores], np.c_[effect, 0 * effect, 0 * effect]
        truth = chances(scores + effect)
        y = (rng.random(len(X))[:, None] > truth.cumsum(axis=1)).sum(axis=1)
        if seed == 0:
            fitted = model(max_iter=60, random_state=0).fit(X, y, init_score=scores)
        else:
            found = chances(fitted.decision_function(X) + scores)
            losses = [log_loss(y, of) for of in (truth, found, chances(scores))]
    assert losses[1] < 0.85 * losses[0] + 0.15 * losses[2]


def chances(scores):
    scores = np.c_[0 * scores, scores] if scores.ndim == 1 else scores
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


def test_responses_of_two_classes_are_those_of_the_logit():
    y, scores = np.array([[0.0, 1.0, 1.0]]), np.array([[0.0, 2.0, -1.0]])
    chance = 1 / (1 + np.exp(-scores))
    found, weight = relative_targets(y, None, scores, ("log_loss", 0.0), 2)
    np.testing.assert_allclose(found, (y - chance) / (2 * chance * (1 - chance)))
    np.testing.assert_allclose(weight, (2 * chance * (1 - chance))[0])


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("then", [False, True])
def test_a_warm_start_keeps_the_kind_of_statistics(model, first, then):
    rng, X, scores, effect = drawn()
    y = (rng.random(len(X)) < chances(scores + effect)[:, 1]).astype(int)
    fitted = model(max_iter=2, warm_start=True, random_state=0)
    fitted.fit(X, y, init_score=scores if first else None)
    before = fitted.encoder_.priors.copy()
    fitted.set_params(max_iter=4).fit(X, y, init_score=scores if then else None)
    np.testing.assert_array_equal(fitted.encoder_.priors, before)
    assert np.isfinite(fitted.predict_proba(X)).all()
    assert (fitted.encoder_.units is not None) == first


@pytest.mark.parametrize("model", REGRESSORS)
def test_extreme_offsets_leave_statistics_finite(model):
    rng, X, _, _ = drawn()
    fitted = model(loss="poisson", max_iter=1).fit(X, rng.poisson(1.0, len(X)), init_score=np.where(X["x"] > 0, 300.0, -300.0))
    assert all(np.isfinite(values).all() for values in fitted.encoder_.statistics)
