"""Losses that are Python functions, compared with the same losses of the core."""

import pickle

import numpy as np
import pytest
from boosters import BOOSTERS, CLASSIFIERS, REGRESSORS, SMALL, bytes_of, table
from fctree import CurvatureBoostingRegressor, SymmetricBoostingRegressor, load_model, save_model
from fctree.inspection import variable_importance
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics import get_scorer

# Without trees that compete: their left-out losses are compared to second order.
PLAIN = {SymmetricBoostingRegressor: {}, CurvatureBoostingRegressor: {"step_depth": None}}


def squared_error(y_true, raw_prediction):
    return raw_prediction - y_true, np.ones_like(raw_prediction)


def log_loss(y_true, raw_prediction):
    p = expit(raw_prediction)
    return p - y_true, p * (1 - p)


def own_loss(kind):
    return squared_error if kind in REGRESSORS else log_loss


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("options", [{}, {"subsample": 0.6}, {"colsample": 0.5, "n_jobs": 2}])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_squared_error_as_a_function_is_the_cores(kind, options, weighted, n_outputs):
    X, y = table(kind)
    y = y if n_outputs == 1 else np.column_stack([y, X[:, 2] ** 2])
    weight = (np.arange(len(y)) % 4).astype(float) if weighted else None
    mean = np.average(y, axis=0, weights=weight)
    unit = np.sqrt(np.average((y - mean) ** 2, axis=0, weights=weight))
    if n_outputs == 1:  # of the core's loss it decides draws, of several outputs what they count
        y, unit = y / unit, np.ones(1)
    # Draws of curvature boosting go by targets less these where the loss is the core's.
    start = np.full(y.shape, 0.5 if kind is SymmetricBoostingRegressor else 0.0)
    models = [
        kind(**{**SMALL, **options}, **PLAIN[kind], loss=loss).fit(X, y / by, sample_weight=weight, init_score=start / by)
        for loss, by in (("squared_error", 1.0), (squared_error, unit))
    ]
    if n_outputs == 1:
        assert bytes_of(models[0]) == bytes_of(models[1])
    np.testing.assert_allclose(models[0].predict(X), models[1].predict(X) * unit, atol=1e-9)
    assert np.isnan(models[1].train_score_).all() and len(models[1].train_score_) == 9


def test_the_log_loss_as_a_function_is_the_cores():
    kind = CLASSIFIERS[0]
    X, y = table(kind)
    start = np.zeros(len(y))
    models = [kind(**SMALL, loss=loss, class_weight="balanced").fit(X, y, init_score=start)
              for loss in ("log_loss", log_loss)]
    # The core's exponentials and SciPy's may differ in the last bit.
    np.testing.assert_allclose(models[0].predict_proba(X), models[1].predict_proba(X), rtol=1e-9)


def test_softmax_of_several_classes():
    for kind in CLASSIFIERS:
        X, y = table(kind, n=300, n_classes=3)

        def softmax_loss(y_true, raw):
            assert y_true.dtype.kind == "i" and raw.shape == (300, 3)
            p = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
            return p - np.eye(3)[y_true], p * (1 - p)

        model = kind(**SMALL, loss=softmax_loss).fit(X, y)
        built_in = kind(**SMALL).fit(X, y)
        assert abs(model.score(X, y) - built_in.score(X, y)) < 0.05


def test_step_trees_compete_for_a_loss_without_values():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2))
    y = np.sign(np.sin(9 * X[:, 0])) - 0.1
    y /= y.std()  # the unit of draws
    kinds = CurvatureBoostingRegressor
    found = kinds(**SMALL, loss=squared_error).fit(X, y, init_score=np.zeros(600))
    expected = kinds(**SMALL).fit(X, y, init_score=np.zeros(600))
    assert np.any(found.tree_kinds_ == 1)
    np.testing.assert_array_equal(found.tree_kinds_, expected.tree_kinds_)
    np.testing.assert_allclose(found.predict(X), expected.predict(X))


@settings(max_examples=15, deadline=None)
@given(factor=st.floats(1e-6, 1e6), tau=st.floats(0.05, 0.95))
def test_the_unit_of_a_loss_does_not_matter_without_penalties(factor, tau):
    X, y = table(SymmetricBoostingRegressor, 80)

    def expectile(scale):
        def loss(y_true, raw):
            weight = scale * np.where(y_true > raw, tau, 1 - tau)
            return weight * (raw - y_true), weight

        return loss

    options = {**SMALL, "l2_leaf_reg": 0.0, "random_strength": 0.0}
    models = [
        SymmetricBoostingRegressor(**options, loss=expectile(scale)).fit(X, y)
        for scale in (1.0, factor)
    ]
    # Rounding may decide between splits that are as good.
    gradients = [np.mean(expectile(1.0)(y, m.predict(X))[0] * (m.predict(X) - y)) for m in models]
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=0.05)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_an_asymmetric_loss_is_asymmetric(kind):
    X, y = table(kind, 400)

    def expectile(y_true, raw):
        weight = np.where(y_true > raw, 0.9, 0.1)
        return weight * (raw - y_true), weight

    model = kind(**{**SMALL, "max_iter": 60}, loss=expectile).fit(X, y)
    prediction = model.predict(X)
    assert np.mean(prediction > y) > 0.6
    assert abs(np.mean(expectile(y, prediction)[0])) < 0.02
    assert model.predict(X).tobytes() == pickle.loads(pickle.dumps(
        kind(**SMALL, loss=squared_error).fit(X, y))).set_params(loss=expectile, max_iter=60).fit(
            X, y).predict(X).tobytes()


@pytest.mark.parametrize("kind", BOOSTERS)
def test_what_a_function_sees(kind):
    X, y = table(kind)
    weight = (np.arange(150) % 3 > 0).astype(float)
    seen = []

    def loss(y_true, raw):
        seen.append((y_true, raw.copy()))
        with pytest.raises(ValueError, match="read-only"):
            y_true[0] = 1
        found = own_loss(kind)(y_true, raw)
        raw[:] = np.nan  # its own copy
        return found

    model = kind(**SMALL, loss=loss, warm_start=True).fit(X, y, sample_weight=weight)
    assert len(seen) == 9 and not np.any(seen[0][1])
    counted = y[weight > 0]
    np.testing.assert_array_equal(
        seen[0][0], counted if kind in REGRESSORS else counted == "b")
    # Scores are added up in the order of training.
    last = model.predict(X) if kind in REGRESSORS else model.decision_function(X)
    np.testing.assert_allclose(seen[-1][1], last[weight > 0], rtol=1e-12, atol=1e-12)
    once = kind(**{**SMALL, "max_iter": 12}, loss=own_loss(kind)).fit(X, y, sample_weight=weight)
    model.set_params(max_iter=12).fit(X, y, sample_weight=weight)
    assert bytes_of(model) == bytes_of(once)


@pytest.mark.parametrize("kind", BOOSTERS)
def test_early_stopping_goes_by_a_metric(kind):
    X, y = table(kind, 80)
    Z, z = table(kind, 60, 1)
    options = {**SMALL, "learning_rate": 1.0, "max_iter": 40, "n_iter_no_change": 5,
               "early_stopping": True, "loss": own_loss(kind)}
    metric = "r2" if kind in REGRESSORS else "neg_log_loss"
    model = kind(**options).fit(X, y, eval_set=(Z, z), eval_metric=metric)
    found = model.evals_result_["valid_0"]
    assert np.isnan(found["loss"]).all() and model.n_iter_ == np.argmax(found[metric]) + 1
    np.testing.assert_allclose(found[metric][model.n_iter_ - 1], get_scorer(metric)(model, Z, z))
    with pytest.raises(ValueError, match="needs an eval_metric where the loss is a function"):
        kind(**options).fit(X, y, eval_set=(Z, z))


@pytest.mark.parametrize("kind", BOOSTERS)
def test_bad_functions_are_refused(kind, tmp_path):
    X, y = table(kind)
    model = kind(**SMALL).fit(X, y)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}

    def returns(change):
        return lambda y_true, raw: change(*own_loss(kind)(y_true, raw))

    cases = [
        (lambda g, h: g, TypeError, "tuple .gradient, hessian"),
        (lambda g, h: (g, h, g), TypeError, "tuple .gradient, hessian., got tuple of 3"),
        (lambda g, h: (g, None), TypeError, "hessian of type object"),
        (lambda g, h: (g + 0j, h), TypeError, "gradient of type complex"),
        (lambda g, h: (g[:-1], h), ValueError, r"gradient of shape \(149,\), expected \(150,\)"),
        (lambda g, h: (g, 1.0), ValueError, r"hessian of shape \(\), expected \(150,\)"),
        (lambda g, h: (g[:, np.newaxis], h), ValueError, "shape"),
        (lambda g, h: (g * np.nan, h), ValueError, "gradient that is not finite"),
        (lambda g, h: (g, h + np.inf), ValueError, "hessian that is not finite"),
        (lambda g, h: (g, -h), ValueError, "negative hessian"),
        (lambda g, h: (g, 0 * h), ValueError, "hessian that is 0 for all samples"),
    ]
    for change, error, words in cases:
        with pytest.raises(error, match=words):
            model.set_params(loss=returns(change)).fit(X, y)
    for error in (ZeroDivisionError("mine"), KeyboardInterrupt(), StopIteration()):

        def fails(y_true, raw):
            if np.any(raw):
                raise error
            return own_loss(kind)(y_true, raw)

        with pytest.raises(type(error)) as raised:
            model.set_params(loss=fails).fit(X, y)
        assert raised.value is error
    assert all(getattr(model, name) is before[name] for name in before)
    with pytest.raises(ValueError, match="loss"):
        model.set_params(loss="logistic").fit(X, y)
    model.set_params(loss=own_loss(kind)).fit(X, y)
    with pytest.raises(TypeError, match="the parameter loss"):
        save_model(model, tmp_path / "model")
    expected = model.predict(X)
    save_model(model.set_params(loss=kind().loss), tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), expected)


def test_a_function_reads_no_parameters():
    X, y = table(SymmetricBoostingRegressor)
    for options, words in (({"quantile": 0.5}, "quantile=0.5 is for loss"),
                           ({"posterior_samples": 2}, "posterior_samples needs loss")):
        with pytest.raises(ValueError, match=words):
            SymmetricBoostingRegressor(**SMALL, **options, loss=squared_error).fit(X, y)
    model = SymmetricBoostingRegressor(**SMALL, loss=squared_error)
    with pytest.raises(ValueError, match="a loss that is a function is not supported"):
        variable_importance(model, X, y)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_derivatives_that_vanish(kind):
    """A loss that is flat far from its minimum, and one at its minimum."""
    X, y = table(kind)

    def welsch(y_true, raw):
        r = raw - 1e3 * y_true
        return r * np.exp(-np.minimum(r**2, 600.0)), np.exp(-np.minimum(r**2, 600.0))

    assert np.isfinite(kind(**SMALL, loss=welsch).fit(X, y).predict(X)).all()
    model = kind(**SMALL, loss=lambda y, raw: (0 * raw, 0 * raw)).fit(X, y)
    assert not np.any(model.predict(X))
    whole = kind(**SMALL, loss=lambda y, raw: (np.sign(raw - y).astype(int), np.ones(150, int)))
    assert np.isfinite(whole.fit(X, y).predict(X)).all()
