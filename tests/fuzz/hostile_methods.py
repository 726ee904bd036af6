"""Hostile arguments for everything public besides fit and predict: methods of fitted models, functions of
inspection, plotting, kernels and data sets, and the public classes of arrays.

Functions are found by what modules export, and parameters by their names, so that new ones are
fuzzed as well.
"""

import inspect
from functools import cache

import fctree
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

from estimators import classifies, public_estimators, small
from fuzz.hostile_data import in_some_type, numbers, pick, samples, targets, weights
from fuzz.outcomes import Refused, is_finite, outcome

NONSENSE = [None, True, False, 0, 1, -1, 2, 0.5, -0.5, 1.0, 1e300, 1e-300, np.nan, np.inf, -np.inf,
            2**31, 2**63 - 1, 2**63, -(2**63), 10**30, np.bool_(True), np.int8(1), np.float16(0.5), "",
            "all", "0", b"x", object, object(), (), [], {}, {0: 1}, [1, 0], ["x0"], np.zeros(0),
            np.zeros((2, 2)), np.array("x"), range(3), pd.NA, pd.NaT, 1j, np.datetime64("now"),
            slice(None), lambda *_: 0]

_CHOICES = {
    "method": ["auto", "exact", "path", "retrain", "dropout", "early_stopping"],
    "scoring": ["neg_mean_squared_error", "neg_log_loss", "accuracy", "r2", "roc_auc"],
    "confidence_level": [0.5, 0.9, 0.999999, 1 - 1e-16, 1e-300, 0.0, 1.0, [0.9, 0.5]],
    "n_jobs": [1, 2, -1, None, 0, 2**62, -(2**63)],
    "n_threads": [1, 2, 0, 10**6, 2**70],
    "random_state": [0, None, 2**32 - 1, 2**32, np.random.RandomState(0), np.random.default_rng(0)],
    "tree": [None, 0, 1, -1, 10**9],
    "max_coef": [1, 2, None], "decimals": [0, 3, 20, 10**6], "output": [0, 1, 2, -1],
    "max_depth": [0, 1, None], "depth": [1, 2, 2.5, 60, np.inf], "depths": [(1, 2), [2], (3, 1), (np.inf,)],
    "scale": [0.0, 1.0, 1e300, 1e-300], "n_trees": [1, 2], "step": [0.1, 1e-300, 1e300],
    "architecture": ["perfect", "oblivious", "decision_list", "rule_set", {1: 1, 2: 2}, {60: 2**62}],
    "device": ["cpu"], "times": [[0.0, 1.0, np.inf], [1e300], 1.0, []], "learning_rate": [0.1, 1e300],
    "noise_variance": [0.0, 1.0, 1e300], "radius": [0.1, 0.0, 1e300], "rho": [0.0, 0.5, 1.0],
    "groups": [None, [[0], [1, 2]], {"a": [0, 1]}, [[0, 0]], {"a": ["x0"]}, [0, 1]],
    "n_subsets": [None, 8, 20], "validation_fraction": [0.25, 0.5], "test_fraction": [0.25, 0.5],
    "min_iter": [0, 1, 10], "features": [None, [0, 1], [0, 0], ("x0", "x1"), [0, 10**9]],
    "bounds": [None, [[-1, 1], [-1, 1]], [[1, -1], [0, 0]], [[-1e308, 1e308]] * 2],
    "feature_names": [None, ["a", "b", "c"], ["a"], ["\0", "$x_", "\n" * 500], "abc", ["x" * 10**4] * 3],
    "class_names": [None, ["a", "b", "c"], ["$"] * 3, [0, 1, 2], {0: "a"}],
    "kind": ["split", "gain"], "sample": [None, 0, 59, -1], "max_features": [1, 10, 10**9],
    "sort": [True, False], "stationary": [True, False], "sample_splitting": [True, False],
    "n_points": [0, 1, 5], "n_samples": [1, 2, 30], "n_features": [1, 2, 10],
    "first": [0, 1, None], "last": [1, 2, None], "verbose": [0], "client": [None], "ax": [None],
    "max_rounds": [1, 10, 10**9], "power": [1.5], "cmap": [None, "viridis", "none of them"],
    "tol": [0.0, 1e-4], "noise": [0.0, 0.1], "coef": [(1.0, 0.0), [1e300], []], "return_X_y": [True],
    "bin_thresholds": [[[0.0], [0.5, 1.0], [-1.0]], [[]] * 3, [[np.nan]] * 3, [[1.0, 0.0]] * 3],
}
# Values of these are honest requests for much work, or time without end.
_WORK = {"n_trees", "n_subsets", "n_samples", "n_features", "n_points", "depth", "depths", "decimals"}
_NEVER = {"verbose", "client", "device", "cmap"}


@cache
def fitted():
    """Fitted models of every estimator, on numbers and on a table with categories."""
    chance = np.random.default_rng(0)
    X = chance.standard_normal((60, 3))
    y = X[:, 0] + np.abs(X[:, 1])
    table = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    table["x1"] = pd.Categorical(np.array(["a", "b", "c"])[np.arange(60) % 3])
    models = []
    for cls in public_estimators().values():
        labels = np.searchsorted([0.0, 1.0], y)
        several = [np.array(["a", "b", "c"])[labels], labels > 0] if classifies(cls) else [
            y, np.column_stack([y, -y])]
        for target in several:
            model, _ = outcome(small(cls).fit, X, target)
            if not isinstance(model, Refused):
                models.append(model)
        for extra in ({"calibration_fraction": 0.3}, {"leaf_model": "constant"}, {"max_coef": 1},
                      {"posterior_samples": 2}, {"solver": "nystrom"}):
            if extra.keys() <= cls().get_params(deep=False).keys():
                model, _ = outcome(small(cls, **extra).fit, X, several[0])
                if not isinstance(model, Refused):
                    models.append(model)
        models.append(small(cls, categorical_features="from_dtype").fit(table, several[0]))
    return models


prepare = fitted


def _functions():
    for name in ("inspection", "kernels", "datasets", "plotting"):
        module = getattr(fctree, name)
        for public in module.__all__:
            value = getattr(module, public)
            if callable(value) and not hasattr(value, "fit"):
                yield value
                if inspect.isclass(value):
                    yield from (getattr(value, own) for own in ("from_estimator", "from_result")
                                if hasattr(value, own))


FUNCTIONS = list(_functions())


def _matrix(chance, n):
    values = numbers(chance, (n, n))
    if is_finite(values) and chance.random() < 0.7:
        with np.errstate(all="ignore"):
            values = values + values.T
    return in_some_type(values, chance)


def _argument(chance, name, model, X):
    """A value for the parameter of this name: suitable, or not."""
    n = X.shape[0]
    kind = chance.random()
    if kind < 0.08 and name not in _NEVER | _WORK:
        return pick(chance, NONSENSE)
    if kind < 0.2 and name in _WORK:
        return pick(chance, [0, 1, -1, 1.5, "3", None, np.nan, np.inf, True, np.int64(2), -(2**63), 2**63, 2**31])
    if name in ("X", "Y", "background", "X_train", "data"):
        return X if kind < 0.6 else samples(chance, pick(chance, [0, 1, 5, n]), pick(chance, [3, 3, 3, 2, 0]))
    if name in ("estimator", "model", "teacher", "tree", "result", "results"):
        if name == "tree" and kind < 0.3:
            return pick(chance, _CHOICES["tree"])
        return pick(chance, [model, model, model, pick(chance, fitted()), Ridge(), getattr(model, "tree_", model)])
    if name in ("y", "residual", "v"):
        return targets(chance, n, classifies(type(model)) and kind < 0.8)
    if name == "eval_set":
        return pick(chance, [None, (X, targets(chance, n, True)), (X,), (X, X)])
    if name in ("sample_weight", "keep"):
        return weights(chance, n)
    if name in ("K", "K_train", "K_test"):
        return _matrix(chance, pick(chance, [n, 1, 0]))
    if name in ("scores", "origin", "out"):
        return pick(chance, [None, np.zeros((n, 1)), np.zeros((n, n)), np.zeros((n, 1), "f4"), np.zeros((2 * n, 1))[::2]])
    if name in _CHOICES:
        return pick(chance, _CHOICES[name])
    return pick(chance, NONSENSE)


def _call(chance, function, model, X):
    """Calls with some of its parameters; returns the result and whether there were warnings."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return None
    given, positional = {}, []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        required = parameter.default is parameter.empty
        if required and chance.random() < 0.98 or not required and chance.random() < 0.35:
            value = _argument(chance, parameter.name, model, X)
            if parameter.kind == parameter.POSITIONAL_ONLY:
                positional.append(value)
            else:
                given[parameter.name] = value
    result, warned = outcome(function, *positional, **given)
    return None if isinstance(result, Refused) or warned else (result, given)


def _methods(model):
    for name in dir(type(model)):
        if not name.startswith("_") and name not in ("fit", "partial_fit", "set_params") and "routing" not in name:
            value, _ = outcome(getattr, model, name, None)
            if callable(value) and "request" not in name:
                yield value


def run_case(chance, folder):
    """A few calls of functions, and of methods of a model and of its arrays."""
    del folder
    model = pick(chance, fitted())
    table = hasattr(model, "feature_names_in_")
    X = chance.standard_normal((pick(chance, [1, 2, 20]), 3))
    if table:
        X = pd.DataFrame(X, columns=model.feature_names_in_)
        X["x1"] = pd.Categorical(np.array(["a", "b", "z"])[np.arange(len(X)) % 3])
    elif chance.random() < 0.3:
        X = in_some_type(numbers(chance, X.shape), chance)
    owners = [model, *(getattr(model, name, None) for name in ("trees_", "tree_"))]
    methods = [method for owner in owners if owner is not None for method in _methods(owner)]
    for _ in range(3):
        function = pick(chance, methods) if chance.random() < 0.5 else pick(chance, FUNCTIONS)
        found = _call(chance, function, model, X if hasattr(X, "shape") else np.zeros((1, 3)))
        if found is not None:
            _check(function, *found)
    plt.close("all")


def _check(function, result, given):
    """Results of finite arguments are finite unless a warning says so, or they are logarithms, of 0 too."""
    if getattr(function, "__name__", "") == "predict_log_proba":
        result = np.exp(result)
    given = [value for value in given.values() if isinstance(value, (np.ndarray, float))]
    if isinstance(result, np.ndarray) and result.dtype.kind == "f" and all(map(is_finite, given)):
        assert is_finite(result), f"{function} is not finite, without a warning"
        if getattr(function, "__name__", "") == "predict_interval":
            assert np.all(result[..., 0] <= result[..., 1]), "intervals end before they begin"
