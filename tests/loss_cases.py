"""The losses of the registry, as tests run through them: a new one is tested by being listed."""

import numpy as np
from fctree._training.losses import LOSSES, QUANTILE_LOSSES

REGRESSION_LOSSES = [name for name, info in LOSSES.items() if info.task == "regression"]
LOG_LINK_LOSSES = [name for name in REGRESSION_LOSSES if LOSSES[name].link == "log"]
# Those that ask for no parameter.
UNASKING_LOSSES = [name for name in REGRESSION_LOSSES if not np.isnan(LOSSES[name].default)]
# Those whose leaf values and baselines are no sums over samples.
ORDER_LOSSES = ["absolute_error", "huber", "quantile"]


def loss_parameters(name, **wanted):
    """An estimator's parameters for a loss: of those wanted the one that it reads, which is well
    inside its range unless said."""
    info = LOSSES[name]
    if info.parameter is None:
        return {"loss": name}
    value = wanted.get(info.parameter, info.low + 0.7 * (info.high - info.low))
    if name in QUANTILE_LOSSES:
        return {"loss": name, "quantile": value}
    return {"loss": (name, value)}


def given_parameter(parameters):
    """The loss's parameter among those of an estimator, or None."""
    loss = parameters["loss"]
    return loss[1] if isinstance(loss, tuple) else parameters.get("quantile")


def targets_for(name, y):
    """Targets in the domain of a loss, from any numbers."""
    domain = LOSSES[name].domain
    if domain == "real":
        return y
    positive = np.exp(y / (1.0 + np.abs(y).max() / 8.0))
    if domain == "positive":
        return positive
    return np.where(y < np.median(y), 0.0, positive)
