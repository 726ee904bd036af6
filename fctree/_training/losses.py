"""The losses of the core, as the estimators offer them."""

from math import ceil
from numbers import Real

import numpy as np

from fctree._native.core import Loss, losses
from fctree._sklearn import Interval, StrOptions

LOSSES = {info.name: info for info in losses()}

# Losses whose parameter is a parameter of the estimators, of None for the loss's own value.
QUANTILE_LOSSES = {name for name, info in LOSSES.items() if info.parameter == "quantile"}

_FEWEST_BEYOND = 5


def loss_constraints(task):
    """Ranges of the parameters that choose a loss: `loss`, and for regression `quantile`."""
    names = {k for k, info in LOSSES.items() if info.task == task}
    constraints = {"loss": [StrOptions(names), callable]}
    if task == "regression":
        constraints["loss"] += [tuple, list]
        constraints["quantile"] = [Interval(Real, 0, 1, closed="neither"), None]
    return constraints


def named_loss(loss):
    """The name of a loss, and its parameter where ``loss=`` is a tuple or list of both, else None."""
    if not isinstance(loss, (tuple, list)):
        return loss, None
    readers = sorted(name for name, info in LOSSES.items() if info.parameter is not None)
    if len(loss) != 2 or loss[0] not in readers:
        raise ValueError(f"loss={loss!r} must be a name, or a tuple (name, parameter) for one of {readers}")
    info, value = LOSSES[loss[0]], loss[1]
    if not isinstance(value, Real) or not info.low < value < info.high:
        raise ValueError(
            f"loss={loss!r}: the {info.parameter} must be a number between {info.low:g} and {info.high:g}"
        )
    return tuple(loss)


_DOMAINS = {
    "real": (lambda y: True, ""),
    "non_negative": (lambda y: np.all(y >= 0), "y >= 0"),
    "positive": (lambda y: np.all(y > 0), "y > 0"),
}


def check_domain(loss, targets):
    """Refuse targets (n_outputs, n) that a loss is not defined for."""
    if callable(loss):
        return
    is_inside, domain = _DOMAINS[LOSSES[named_loss(loss)[0]].domain]
    if not is_inside(targets):
        raise ValueError(f"loss={loss!r} needs {domain}; the smallest is {targets.min()}")


def check_learnable(loss, targets, which=""):
    """Refuse targets (n_outputs, n) whose mean has no logarithm; ``which`` says in the message which targets these are."""
    if has_log_link(loss) and not np.all(targets.sum(axis=1) > 0):
        raise ValueError(f"loss={loss!r} needs targets with a positive sum{which}; all are 0 of an output")


def has_log_link(loss):
    """Whether predictions are exponentials of raw scores."""
    return not callable(loss) and LOSSES[named_loss(loss)[0]].link == "log"


def refuse_function(loss, where):
    """Refuse a loss that is a function where the core needs one of its own."""
    if callable(loss):
        raise ValueError(f"a loss that is a function is not supported {where}")


def choose_loss(estimator):
    """The loss that an estimator's parameters ask for, as the core takes it: name and parameter; or the
    user's function. ValueError where a parameter is given that the loss does not read, or one is missing."""
    name, value = named_loss(estimator.loss)
    quantile = getattr(estimator, "quantile", None)
    if quantile is not None and (name not in QUANTILE_LOSSES or value is not None):
        readers = " or ".join(map(repr, sorted(QUANTILE_LOSSES)))
        raise ValueError(f"quantile={quantile!r} is for loss={readers}, got loss={estimator.loss!r}")
    if callable(name):
        return name
    info = LOSSES[name]
    if info.parameter is None:
        return name, 0.0
    for given in (value, quantile):
        if given is not None:
            return name, float(given)
    if np.isnan(info.default):
        raise ValueError(
            f"loss={name!r} needs the parameter {info.parameter}, between {info.low:g} and {info.high:g}"
        )
    return name, float(info.default)


def quantile_of(estimator):
    """The order of the quantile that an estimator's loss is for; None for other losses."""
    loss = choose_loss(estimator)
    return loss[1] if not callable(loss) and loss[0] == "quantile" else None


def leaves_are_sums(loss):
    """Whether the starting scores and leaf values of a loss follow from sums over samples (Newton steps); otherwise
    they are quantiles or clipped means."""
    return callable(loss) or Loss(loss, 1).leaf_rule == "newton"


def fewest_in_leaf(estimator):
    """Samples that a leaf needs: for a quantile five beyond it, without which it would be the largest residual
    whatever the order; for the median, as for the absolute error, and for other losses one."""
    order = quantile_of(estimator)
    return 1 if order in (None, 0.5) else ceil((1.0 - 1e-12) * _FEWEST_BEYOND / min(order, 1.0 - order))
