"""`init_score` of training samples and of evaluation sets."""

import numpy as np
import pandas as pd
import pytest
from boosters import CLASSIFIERS, REGRESSORS
from loss_cases import LOG_LINK_LOSSES, REGRESSION_LOSSES, loss_parameters, targets_for
from sklearn.metrics import log_loss, mean_poisson_deviance


@pytest.fixture
def claims():
    """Features, counts over different exposures, and these."""
    rng = np.random.default_rng(0)
    X, exposure = rng.standard_normal((1500, 3)), rng.uniform(0.05, 2.0, 1500)
    return X, rng.poisson(exposure * np.exp(0.5 * X[:, 0] + 0.3 * np.abs(X[:, 1]))).astype(float), exposure


@pytest.mark.parametrize("kind", REGRESSORS)
def test_losses_of_an_evaluation_set_count_its_exposures(kind, claims):
    X, counts, exposure = claims
    train, held = slice(0, 1000), slice(1000, None)
    model = kind(loss="poisson", max_iter=150, early_stopping=True, n_iter_no_change=5, random_state=0)
    start = np.log(exposure)
    model.fit(X[train], counts[train], init_score=start[train], eval_set=(X[held], counts[held], None, start[held]))
    assert model.n_iter_ < 150
    assert np.argmax(model.validation_score_) == model.n_iter_
    # The loss is the deviance but for a factor and for what does not depend on the model.
    expected, raw = model.predict(X[held]) * exposure[held], -model.validation_score_
    first = mean_poisson_deviance(counts[held], np.full(500, np.exp(model.baseline_[0])) * exposure[held])
    last = mean_poisson_deviance(counts[held], expected)
    np.testing.assert_allclose((raw[0] - raw[model.n_iter_]), (first - last) / 2, rtol=1e-9)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_losses_of_several_sets_of_classes(kind, n_classes):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((600, 3))
    y = np.digitize(X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(600), np.arange(n_classes - 1) - 0.5)
    start = rng.standard_normal((600, n_classes)) if n_classes > 2 else X[:, 1]
    sets = [(X[rows], y[rows], None, start[rows]) for rows in (slice(300, 500), slice(500, None))]
    model = kind(max_iter=5, random_state=0).fit(X[:300], y[:300], init_score=start[:300], eval_set=sets)
    for at, (X_of, y_of, _, start_of) in enumerate(sets):
        raw = model.decision_function(X_of) + start_of
        both = np.column_stack([np.zeros(len(raw)), raw]) if n_classes == 2 else raw
        chances = np.exp(both) / np.exp(both).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.evals_result_[f"valid_{at}"]["loss"][-1], log_loss(y_of, chances), rtol=1e-9)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_warm_start_goes_on_from_them(kind, claims):
    X, counts, exposure = claims
    start = np.log(exposure)
    fit = {"init_score": start[:1000], "eval_set": (X[1000:], counts[1000:], None, start[1000:])}
    model = kind(loss="poisson", max_iter=4, warm_start=True, random_state=0).fit(X[:1000], counts[:1000], **fit)
    model.set_params(max_iter=8).fit(X[:1000], counts[:1000], **fit)
    whole = kind(loss="poisson", max_iter=8, random_state=0).fit(X[:1000], counts[:1000], **fit)
    np.testing.assert_allclose(model.validation_score_, whole.validation_score_, rtol=1e-12)


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
@pytest.mark.parametrize("seed", [0, 1])
def test_their_level_does_not_matter(kind, loss, seed):
    """Exposures in days are those in years; of other links the targets rise with the scores."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((400, 3)), columns=list("abc"))
    X["k"] = rng.choice(list("lmnopqrstu"), 400)
    start, weight, is_log = rng.standard_normal(400), rng.uniform(0.5, 3, 400), loss in LOG_LINK_LOSSES
    effect = np.sin(2 * X["a"]) + X["b"] + 0.5 * rng.standard_normal(400)
    y = np.asarray(targets_for(loss, effect) * np.exp(start) if is_log else effect + start)

    def fitted(level, **parameters):
        model = kind(**loss_parameters(loss), random_state=0, **parameters)
        return model.fit(X, y if is_log else y + level, weight, init_score=start + level)

    for parameters in ({"max_iter": 40}, {"max_iter": 80, "early_stopping": True, "n_iter_no_change": 5}):
        years, days = fitted(0.0, **parameters), fitted(np.log(365), **parameters)
        expected, found = years.predict(X), days.predict(X) * (365 if is_log else 1)
        assert days.n_iter_ == years.n_iter_
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_a_model_without_them_goes_on_beside_them(kind, loss, claims):
    X, counts, exposure = claims
    model = kind(loss=loss, max_iter=4, warm_start=True, random_state=0).fit(X, counts / exposure)
    before, start = model.train_score_[-1], np.zeros(len(X))
    model.set_params(max_iter=5).fit(X, counts / exposure, init_score=start)
    np.testing.assert_allclose(model.train_score_[4], before, rtol=1e-12)
    assert model.train_score_[5] > before
