"""Hostile fits and predictions: any data, weights and parameters, in any type and layout."""

import os
import pickle

import numpy as np
import pandas as pd
from fctree import (
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTRegressor,
    load_model,
    save_model,
)
from scipy import sparse
from sklearn.base import clone

from fuzz.estimators import classifies, public_estimators, small
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
             "tweedie"],
    "quantile": [0.1, 0.5, 0.9],
    "power": [1.1, 1.5, 1.9],
    "tree": [None, FCODTRegressor(), CurvatureTreeClassifier(), CurvatureTreeRegressor(),
             CurvatureTreeRegressor(max_coef=1, alpha="loo"), FCODTRegressor(alpha=-1),
             CurvatureTreeRegressor(directions="axis", leaf_model="constant")],
    "directions": ["ridge", "curvature", "axis", "all", ("ridge", "axis")],
    "split_criterion": ["constant", "ridge"],
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
    "n_jobs": [1, 2, 3, -1, 10**6],
    "max_coef": [1, 2, None],
}


def _pick(chance, values):
    return values[chance.integers(len(values))]


def _numbers(chance, shape):
    """Finite numbers of some scale, or with what is not finite."""
    values = chance.standard_normal(shape)
    kind = chance.integers(12)
    if kind == 0:
        values = np.round(values)
    elif kind == 1:
        values = np.zeros(shape) + _pick(chance, [0.0, 1.0, -1e300, 5e-324])
    elif kind == 2:
        values = values * _pick(chance, [1e300, 1e150, 1e-150, 1e-310, 1e16])
    elif kind == 3 and values.size:
        extremes = [1e308, -1e308, 5e-324, 0.0, 1.7976931348623157e308]
        flat = values.ravel()
        for _ in range(3):
            flat[chance.integers(flat.size)] = _pick(chance, extremes)
        values = flat.reshape(shape)
    elif kind == 4 and values.size:
        flat = values.ravel()
        flat[chance.integers(flat.size)] = _pick(chance, [np.nan, np.inf, -np.inf])
        values = flat.reshape(shape)
    elif kind == 5:
        values = 1e9 + values
    elif kind == 6 and values.ndim == 2:
        values[:, :] = values[:, :1]
    return values


def _in_some_type(values, chance):
    """The same numbers as another type, layout or container."""
    kind = chance.integers(16)
    with np.errstate(all="ignore"):
        if kind < 6:
            types = ["f4", "f2", "i8", "i4", ">f8", "bool", "O", "U8", "g", "c16", "M8[s]", "u1"]
            changed, _ = outcome(values.astype, _pick(chance, types))
            return values if isinstance(changed, Refused) else changed
    if kind == 6:
        return np.asfortranarray(values)
    if kind == 7:
        return values.tolist()
    if kind == 8 and values.ndim == 2:
        return pd.DataFrame(values, columns=[f"c{j}" for j in range(values.shape[1])])
    if kind == 9 and values.ndim == 2:
        return sparse.csr_matrix(values)
    if kind == 10:
        wide = np.repeat(values, 2, axis=0)[::2]
        return wide[::-1][::-1]
    if kind == 11:
        values.flags.writeable = False
    return values


def _targets(chance, n, classification):
    kind = chance.integers(8)
    if kind == 0:
        return _in_some_type(_numbers(chance, (n, _pick(chance, [1, 2, 0]))), chance)
    if kind == 1:
        return _in_some_type(_numbers(chance, n), chance)
    if classification or kind == 2:
        labels = chance.integers(_pick(chance, [1, 2, 3, 5]), size=n)
        names = [labels, labels.astype(str), labels.astype(float), labels > 0,
                 labels.astype(object), np.array(["a", "b", "c", "d", "e"], dtype=object)[labels]]
        return _pick(chance, names)
    return np.abs(_numbers(chance, n)) if chance.random() < 0.3 else _numbers(chance, n)


def _weights(chance, n):
    kind = chance.integers(14)
    weights = chance.random(n)
    if kind < 6:
        return None
    if kind == 6:
        return np.zeros(n)
    if kind == 7:
        return np.full(n, _pick(chance, [1e308, 1e-320, 1e-300, 1e200, 1.0]))
    if kind == 8:
        return chance.integers(3, size=n)
    if kind == 9:
        return _in_some_type(_numbers(chance, n), chance)
    if kind == 10:
        return weights[: max(n - 1, 0)]
    if kind == 11 and n:
        weights[chance.integers(n)] = _pick(chance, [1e308, 0.0, -1.0, np.nan])
    return weights


def _parameters(chance, cls):
    """A few parameters, most within their ranges."""
    names = [name for name in cls().get_params(deep=False) if name != "device"]
    chosen = {}
    for name in chance.choice(names, size=chance.integers(0, 5)):
        if chance.random() < 0.6 and name in _CHOICES:
            chosen[name] = _pick(chance, _CHOICES[name])
        elif name in _WORK:
            chosen[name] = _pick(chance, _SMALL_NUMBERS)
        elif chance.random() < 0.7:
            chosen[name] = _pick(chance, _NUMBERS)
        else:
            chosen[name] = _pick(chance, _OTHERS)
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


def run_case(chance, folder):
    """One estimator, fitted on something, and what can be done with it then."""
    cls = _pick(chance, list(public_estimators().values()))
    n, d = int(chance.integers(0, 51)), int(chance.integers(0, 9))
    X = _in_some_type(_numbers(chance, (n, d)), chance)
    y = _targets(chance, n, classifies(cls))
    model = small(cls, **_parameters(chance, cls))
    fitted, given = outcome(model.fit, X, y, sample_weight=_weights(chance, n))
    if isinstance(fitted, Refused):
        outcome(model.predict, X)
        return
    finite = _usable(X)
    if finite is not None:
        check_predictions(model, X, must_accept=True, warned=bool(given))
    for _ in range(2):
        other = _in_some_type(_numbers(chance, (int(chance.integers(1, 40)), d)), chance)
        if _usable(other) is not None:
            check_predictions(model, other, must_accept=False)
        else:
            outcome(model.predict, other)
    outcome(model.set_params, **_parameters(chance, cls))
    outcome(model.predict, X)
    if chance.random() < 0.3:
        _store(model, X, folder)
    if chance.random() < 0.3:
        outcome(model.fit, X, _targets(chance, n, classifies(cls)))
        outcome(model.predict, X)
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
