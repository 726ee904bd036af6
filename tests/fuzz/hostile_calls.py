"""Hostile fits and predictions: any data, weights and parameters, in any type and layout."""

import inspect
import os
import pickle

import numpy as np
import pandas as pd
from fctree import (
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTRegressor,
    export_text,
    load_model,
    save_model,
)
from sklearn.base import clone

from estimators import classifies, public_estimators, small
from fuzz.hostile_data import in_some_type, numbers, pick, samples, targets, weights
from fuzz.outcomes import Refused, check_predictions, outcome

# Parameters that multiply the work: large values are honest requests for much of it.
_WORK = {"max_iter", "n_estimators", "max_epochs", "n_trees", "depth", "posterior_samples",
         "n_components", "depths", "step_depth", "max_depth"}
_NUMBERS = [0, 1, 2, 3, -1, 0.5, 1.0, 0.0, -0.5, 1e-300, 1e300, np.float64(0.3), np.int32(2),
            np.nan, np.inf, -np.inf, 2**31, 2**63 - 1, 2**63, 10**30, 10**400, True, False]
_OTHERS = [None, "", "all", "loo", "sqrt", "quantile", "poisson", "gamma", "huber", "ridge",
           "logistic", "erf", "ntk", "nystrom", "cg", "gradient_descent", "gumbel", "cosine",
           (), [], ("ridge", "axis"), {}, {0: 1}, [1, 0], b"ridge", object]
_SMALL_NUMBERS = [0, 1, 2, 3, -1, 0.5, np.nan, True, 4]
_CHOICES = {
    "loss": ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma",
             "tweedie", ("tweedie", 1.1), ("tweedie", 3.0), ("huber", 0.5)],
    "quantile": [0.1, 0.5, 0.9],
    "tree": [None, FCODTRegressor(), CurvatureTreeClassifier(), CurvatureTreeRegressor(),
             CurvatureTreeRegressor(max_coef=1, alpha="loo"), FCODTRegressor(alpha=-1),
             CurvatureTreeRegressor(directions="axis", leaf_model="constant")],
    "directions": ["ridge", "curvature", "axis", "all", ("ridge", "axis")],
    "leaf_model": ["constant", "ridge"],
    "routing": ["smooth_step", "logistic", "erf"],
    "initialization": ["standard", "ntk"],
    "optimizer": ["adam", "gradient_descent"],
    "solver": ["cholesky", "nystrom", "cg"],
    "architecture": ["perfect", "oblivious", "decision_list", "rule_set", {1: 1, 2: 2}],
    "score_noise": ["normal", "gumbel"],
    "score_function": ["l2", "cosine"],
    "max_features": ["sqrt", "log2", 0.5, 1, None],
    "alpha": ["loo", 0.0, 1e-8, 1.0, 1e8],
    "learning_rate": [1e-3, 0.1, 1.0, 10.0, 1e10],
    "posterior_samples": [0, 2],
    "early_stopping": [True, False],
    "warm_start": [True, False],
    "bootstrap": [True, False],
    "batch_norm": [True, False],
    "fit_intercept": [True, False],
    "oob_score": [True, False],
    "min_samples_leaf": [1, 2, 5, 0.2],
    "n_jobs": [1, 2, 3, -1, -2, 0, 10**6, 2**31, -(2**31), None],
    "categorical_features": ["from_dtype", None, [0], [True], ["c0"], [10**9], "all"],
    "monotonic_cst": [None, [1], [1, -1], {"c0": 1}, np.array([1, 0, -1])],
    "interaction_cst": [None, "pairwise", "no_interactions", [[0, 1]], [{"c0"}], [[9]], [0]],
    "cv": [None, 2, 3, 1, 50],
    "max_coef": [1, 2, None],
}


def _parameters(chance, cls):
    """A few parameters, most within their ranges."""
    names = [name for name in cls().get_params(deep=False) if name != "device"]
    chosen = {}
    for name in chance.choice(names, size=chance.integers(0, 5)):
        if chance.random() < 0.6 and name in _CHOICES:
            chosen[name] = pick(chance, _CHOICES[name])
        elif name in _WORK:
            chosen[name] = pick(chance, _SMALL_NUMBERS)
        elif chance.random() < 0.7:
            chosen[name] = pick(chance, _NUMBERS)
        else:
            chosen[name] = pick(chance, _OTHERS)
    chosen.pop("verbose", None)
    return chosen


def _usable(X):
    """The data as an array of numbers without infinities, or None."""
    if isinstance(X, pd.DataFrame):
        X = X.to_numpy()
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2 and is_number(X):
        return X
    return None


def is_number(X):
    """Whether no value is infinite or missing."""
    return bool(np.all(np.isfinite(X.astype(np.float64))))


def _validation(chance, cls, d):
    """Arguments of fit besides the samples, for estimators that have them."""
    given = {}
    known = inspect.signature(cls.fit).parameters
    if "eval_set" not in known or chance.random() < 0.7:
        return given
    n = int(chance.integers(0, 20))
    held_out = (samples(chance, n, d), targets(chance, n, classifies(cls)))
    kind = chance.integers(5)
    if kind == 0:
        given["eval_set"] = pick(chance, [held_out, [held_out], [held_out, held_out], (), "X"])
    elif kind < 3:
        given["X_val"], given["y_val"] = held_out
        given["sample_weight_val"] = weights(chance, n)
    else:
        given["init_score"] = in_some_type(numbers(chance, pick(chance, [50, (50, 3), n])), chance)
    return given


def _fit_again(chance, model, X, n, d):
    """Another fit, warm or not, on other data or in other ways."""
    if chance.random() < 0.5:
        outcome(model.set_params, warm_start=True)
    again = X if chance.random() < 0.5 else samples(chance, n, d)
    method = pick(chance, ["fit", "fit", "partial_fit"])
    y = targets(chance, n, classifies(type(model)))
    outcome(getattr(model, method, model.fit), again, y, sample_weight=weights(chance, n))
    outcome(model.predict, X)


def _look(chance, model, X, n):
    """Methods and functions that read a fitted model."""
    for name in dir(type(model)):
        if name.startswith("staged_"):
            outcome(lambda own=name: [len(stage) for stage in getattr(model, own)(X)])
        elif name.endswith("_"):
            outcome(getattr, model, name, None)
    outcome(export_text, model)
    outcome(repr, model)
    outcome(model.score, X, targets(chance, n, True))


def run_case(chance, folder):
    """One estimator, fitted on something, and what can be done with it then."""
    cls = pick(chance, list(public_estimators().values()))
    n, d = int(chance.integers(0, 51)), int(chance.integers(0, 9))
    X = samples(chance, n, d)
    y = targets(chance, n, classifies(cls))
    model = small(cls, **_parameters(chance, cls))
    fitted, given = outcome(
        model.fit, X, y, sample_weight=weights(chance, n), **_validation(chance, cls, d)
    )
    if isinstance(fitted, Refused):
        outcome(model.predict, X)
        return
    check_predictions(model, X, must_accept=True, warned=bool(given))
    for _ in range(2):
        other = samples(chance, int(chance.integers(1, 40)), d)
        if _usable(other) is not None:
            check_predictions(model, other, must_accept=False)
        else:
            outcome(model.predict, other)
    outcome(model.predict, samples(chance, 3, max(d - 1, 0)))
    if chance.random() < 0.3:
        _look(chance, model, X, n)
    outcome(model.set_params, **_parameters(chance, cls))
    outcome(model.predict, X)
    if chance.random() < 0.3:
        _store(model, X, folder)
    if chance.random() < 0.3:
        _fit_again(chance, model, X, n, d)
    outcome(clone, model)


def _store(model, X, folder):
    """A saved model predicts the same after loading."""
    path = os.path.join(folder, "model")
    saved, _ = outcome(save_model, model, path)
    if isinstance(saved, Refused):
        return
    expected, _ = outcome(model.predict, X)
    for again in (load_model(path), pickle.loads(pickle.dumps(model))):
        found, _ = outcome(again.predict, X)
        assert isinstance(expected, Refused) == isinstance(found, Refused)
        if not isinstance(expected, Refused):
            np.testing.assert_array_equal(found, expected)
