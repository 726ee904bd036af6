"""The losses of the core, as the estimators offer them."""

from numbers import Real

import numpy as np

from fctree._native.core import losses
from fctree._sklearn import Interval, StrOptions

LOSSES = {info.name: info for info in losses()}

# The parameters that some losses read.
LOSS_PARAMETERS = {info.parameter for info in LOSSES.values()} - {None}


def loss_constraints(task):
    """Ranges of the parameters that choose a loss: `loss`, and for regression those that some
    losses read, of which None asks for the loss's own value."""
    names = {k for k, info in LOSSES.items() if info.task == task}
    constraints = {"loss": [StrOptions(names), callable]}
    for info in LOSSES.values():
        if info.task == task and info.parameter is not None:
            constraints[info.parameter] = [Interval(Real, info.low, info.high, closed="neither"),
                                           None]
    return constraints


_DOMAINS = {
    "real": (lambda y: True, ""),
    "non_negative": (
        lambda y: np.all(y >= 0) and np.all(y.sum(axis=1) > 0),
        "y >= 0 with a positive sum",
    ),
    "positive": (lambda y: np.all(y > 0), "y > 0"),
}


def check_domain(loss, targets):
    """Refuse targets (n_outputs, n) that a loss is not defined for."""
    if callable(loss):
        return
    is_inside, domain = _DOMAINS[LOSSES[loss].domain]
    if not is_inside(targets):
        raise ValueError(f"loss={loss!r} needs {domain}; the smallest is {targets.min()}")


def has_log_link(loss):
    """Whether predictions are exponentials of raw scores."""
    return not callable(loss) and LOSSES[loss].link == "log"


def refuse_function(loss, where):
    """Refuse a loss that is a function where the core needs one of its own."""
    if callable(loss):
        raise ValueError(f"a loss that is a function is not supported {where}")


def choose_loss(estimator):
    """The loss that an estimator's parameters ask for, as the core takes it: name and parameter; or
    the user's function.

    Raises
    ------
    ValueError
        Where a parameter is given that the loss does not read, or one is missing.
    """
    info = None if callable(estimator.loss) else LOSSES[estimator.loss]
    for name in sorted(LOSS_PARAMETERS):
        given = getattr(estimator, name, None)
        if given is not None and (info is None or name != info.parameter):
            readers = " or ".join(repr(k) for k, v in LOSSES.items() if v.parameter == name)
            raise ValueError(f"{name}={given!r} is for loss={readers}, got loss={estimator.loss!r}")
    if info is None:
        return estimator.loss
    if info.parameter is None:
        return info.name, 0.0
    value = getattr(estimator, info.parameter, None)
    if value is None:
        value = info.default
    if np.isnan(value):
        raise ValueError(
            f"loss={info.name!r} needs the parameter {info.parameter}, between {info.low:g} and "
            f"{info.high:g}"
        )
    return info.name, float(value)
