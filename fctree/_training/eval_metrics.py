"""Metrics of a model that is being grown, by scikit-learn's scorers."""

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer


# What other programs call scikit-learn's scorers, without underscores.
_OTHER_NAMES = {
    "rmse": "neg_root_mean_squared_error", "mse": "neg_mean_squared_error", "l2": "neg_mean_squared_error",
    "mae": "neg_mean_absolute_error", "l1": "neg_mean_absolute_error", "mape": "neg_mean_absolute_percentage_error",
    "auc": "roc_auc", "logloss": "neg_log_loss", "binarylogloss": "neg_log_loss", "multilogloss": "neg_log_loss",
    "mlogloss": "neg_log_loss", "crossentropy": "neg_log_loss", "multiclass": "neg_log_loss",
}  # fmt: skip


@dataclass(eq=False)
class EvalSet:
    """Samples as scorers take them: X, y as in `fit`, and weights or None."""

    X: Any
    y: Any
    weight: np.ndarray | None


def named_scorers(eval_metric):
    """Scorers by name, from what `fit` takes: a name, a callable, a list of these or a dict."""
    if eval_metric is None:
        return {}
    if isinstance(eval_metric, Mapping):
        given = list(eval_metric.items())
    else:
        many = isinstance(eval_metric, (list, tuple))
        given = [(_name(metric), metric) for metric in (eval_metric if many else [eval_metric])]
    scorers = {}
    for name, metric in given:
        if not isinstance(name, str):
            raise TypeError(f"the names of eval_metric must be text, got {name!r}")
        if not isinstance(metric, str) and not callable(metric):
            raise TypeError(
                f"eval_metric must be the name of a scorer of scikit-learn, a callable "
                f"metric(estimator, X, y), or a list or dict of these, got {metric!r}"
            )
        if _takes_predictions(metric):
            raise TypeError(
                f"eval_metric {name!r} is a function of y_true and predictions, where a callable "
                f"metric(estimator, X, y) is needed: sklearn.metrics.make_scorer({name}) makes one, "
                "with greater_is_better=False of an error"
            )
        if name in scorers or name == "loss":
            raise ValueError(f"eval_metric has the name {name!r} twice ('loss' is the loss itself); a dict can name its metrics")
        scorers[name] = _scorer(metric)
    return scorers


def _scorer(metric):
    try:
        return get_scorer(metric)
    except ValueError:
        scorer = _OTHER_NAMES.get(metric.lower().replace("_", ""))
        remedy = f": it is called {scorer!r}" if scorer else ", which sklearn.metrics.get_scorer_names() lists"
        raise ValueError(f"eval_metric {metric!r} is no scorer of scikit-learn{remedy}") from None


def _name(metric):
    return metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))


def _takes_predictions(metric):
    """Whether a callable is a metric of scikit-learn's kind, ``(y_true, y_pred)``: it takes no three arguments."""
    try:
        parameters = inspect.signature(metric)
    except (TypeError, ValueError):  # a name, or a callable that does not tell
        return False
    if next(iter(parameters.parameters), None) == "y_true":
        return True
    for weights in ({}, {"sample_weight": None}):
        try:
            parameters.bind(None, None, None, **weights)
            return False
        except TypeError:
            pass
    return True


def score(estimator, scorers, eval_set, raw):
    """The metrics by name of a model whose raw scores of a set are ``raw`` (n_outputs, n_samples).

    TypeError or ValueError for a metric that is no finite number, ValueError for one that raises it.
    """
    model = _with_scores(estimator, eval_set.X, raw)
    weights = {} if eval_set.weight is None else {"sample_weight": eval_set.weight}
    found = {}
    for name, scorer in scorers.items():
        try:
            value = scorer(model, eval_set.X, eval_set.y, **weights)
        except ValueError as error:
            lacking = _lacking_classes(estimator, eval_set.y)
            raise ValueError(
                f"eval_metric {name!r} failed on an evaluation set: {error}{lacking}"
            ) from error
        except TypeError as error:
            if not weights or "sample_weight" not in str(error):
                raise
            raise TypeError(
                f"eval_metric {name!r} has to take the weights of the evaluation set, sample_weight=: {error}"
            ) from error
        if not isinstance(value, Real):
            raise TypeError(f"eval_metric {name!r} must be a number, got {value!r}")
        if not np.isfinite(value):
            lacking = _lacking_classes(estimator, eval_set.y)
            raise ValueError(f"eval_metric {name!r} is {value!r} for an evaluation set{lacking}")
        found[name] = float(value)
    return found


def _lacking_classes(estimator, y):
    """The end of an error's message where an evaluation set lacks classes, else nothing."""
    lacking = np.setdiff1d(getattr(estimator, "classes_", ()), y).tolist()
    if not lacking:
        return ""
    return f". The set lacks the classes {lacking[:10]}; the model's own loss (no eval_metric) needs none"


def _with_scores(estimator, X, raw):
    """The estimator as scorers see it, with predictions for X alone."""
    scores = np.array(raw.T, order="C")  # a scorer may keep the estimator, and raw is memory of the core

    def raw_predict(given):
        if given is not X:
            raise ValueError(
                "an eval_metric can ask for predictions of the X that it is given, not of other data: "
                "the model is still being grown"
            )
        return scores.copy()

    model = copy.copy(estimator)
    vars(model).pop("trees_", None)  # of a model that is continued
    model._raw_predict = raw_predict
    return model
