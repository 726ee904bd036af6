"""Losses by their formulas: value, gradient and hessian by F, best constant.

All take y and F as (n, K); `log_loss` with several classes takes y as the class, (n, 1).
`test_boosting_losses.py` differentiates the values numerically.
"""

import numpy as np
from scipy.special import expit, logsumexp, softmax


def lower_upper_quantile(values, weights, q):
    """The least v with F(v) >= q, halfway to the next one where F(v) = q."""
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    share = np.cumsum(weights)
    at = np.flatnonzero(share >= q * share[-1])[0]
    if share[at] > q * share[-1] or at + 1 == len(values):
        return values[at]
    return 0.5 * (values[at] + values[at + 1])


def residual_scale(y, f, w):
    """The upper quartile of each output's absolute residuals, at least a hundredth of their mean."""
    sizes = np.abs(y - f).T
    return np.array([max(lower_upper_quantile(size, w, 0.75), 0.01 * np.average(size, weights=w))
                     for size in sizes])


class SquaredError:
    """Its derivatives are those of its half."""

    leaf = "newton"
    penalty_factor = 1.0  # of the penalty of leaf values

    def value(self, y, f):
        return (y - f) ** 2

    def gradient(self, y, f):
        return f - y

    def hessian(self, y, f):
        return np.ones_like(f)

    def limited(self, step, gradient, hessian):
        """A leaf's Newton step for the sums of its gradients and hessians."""
        return step

    def baseline(self, y, w):
        return w @ y / w.sum()


class Quantile(SquaredError):
    leaf = "quantile"
    near = 0.0

    def __init__(self, order, factor=1.0):
        self.order, self.factor = order, factor

    def value(self, y, f):
        return self.factor * np.maximum(self.order * (y - f), (self.order - 1) * (y - f))

    def prepare(self, y, f, w):
        """Residuals below 2 % of their scale, the least of all outputs, have slopes in proportion."""
        self.near = 0.02 * residual_scale(y, f, w).min()

    def gradient(self, y, f):
        slope = np.where(y > f, -self.order, np.where(y < f, 1 - self.order, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.factor * np.where(y == f, 0.0, slope * np.minimum(np.abs(y - f) / self.near, 1.0))

    def baseline(self, y, w):
        return np.array([lower_upper_quantile(column, w, self.order) for column in y.T])


class Huber(SquaredError):
    leaf = "clipped_mean"

    def __init__(self, order):
        self.order = order

    def prepare(self, y, f, w):
        """delta is the quantile of the present residuals."""
        self.delta = max(lower_upper_quantile(r, w, self.order) for r in np.abs(y - f).T)

    def value(self, y, f):
        r = np.abs(y - f)
        return np.where(r <= self.delta, r**2 / 2, self.delta * (r - self.delta / 2))

    def gradient(self, y, f):
        return np.clip(f - y, -self.delta, self.delta)

    def baseline(self, y, w):
        return np.array([lower_upper_quantile(column, w, 0.5) for column in y.T])


class LogLink(SquaredError):
    """Derivatives are divided by each output's dispersion, of scores that training starts with, and found at scores
    less the best constant. Hessians are those expected of targets whose mean is exp F, a hundredth of all targets' at
    least."""

    dispersion, centre, floor = 1.0, 0.0, -np.inf

    def find_dispersion(self, y, f, w):
        self.floor = np.log(0.01 * (w @ y) / w.sum())
        f = f + self.find_shift(y, f, w)
        self.dispersion = w @ self.slope(y, f) ** 2 / (w @ self.curvature(f))

    def find_centre(self, y, f, w):
        self.centre = -np.log(1 - (w @ self.slope(y, f)) / (w @ self.curvature(f)))

    def find_shift(self, y, f, w):
        """The constant that balances the model: the sum of the predictions is that of the targets."""
        return np.log((w @ y) / (w @ np.exp(f)))

    def gradient(self, y, f):
        return self.slope(y, f - self.centre) / self.dispersion

    def hessian(self, y, f):
        return self.curvature(np.maximum(f - self.centre, self.floor)) / self.dispersion

    def limited(self, step, gradient, hessian):
        """Upwards no further than to the minimum: sum(y exp((1 - p) F)) = sum(exp((2 - p) F)) exp(step)."""
        minimum = np.log(np.maximum(hessian - gradient, 1e-300) / hessian)
        return np.where(gradient < 0, np.minimum(step, minimum), step)

    def baseline(self, y, w):
        return np.log(w @ y / w.sum())


class Poisson(LogLink):
    def value(self, y, f):
        return np.where(y > 0, y * np.log(np.where(y > 0, y, 1)), 0) - y - y * f + np.exp(f)

    def slope(self, y, f):
        return np.exp(f) - y

    def curvature(self, f):
        return np.exp(f)


class Gamma(LogLink):
    def value(self, y, f):
        return y / np.exp(f) - 1 + f - np.log(y)

    def slope(self, y, f):
        return 1 - y / np.exp(f)

    def curvature(self, f):
        return np.ones_like(f)


class Tweedie(LogLink):
    def __init__(self, power):
        self.power = power

    def value(self, y, f):
        p, mean = self.power, np.exp(f)
        return y ** (2 - p) / ((1 - p) * (2 - p)) - y * mean ** (1 - p) / (1 - p) + mean ** (
            2 - p) / (2 - p)

    def slope(self, y, f):
        return np.exp((2 - self.power) * f) - y * np.exp((1 - self.power) * f)

    def curvature(self, f):
        return np.exp((2 - self.power) * f)


class BinaryLogLoss(SquaredError):
    def value(self, y, f):
        return np.logaddexp(0, f) - y * f

    def gradient(self, y, f):
        return expit(f) - y

    def hessian(self, y, f):
        return expit(f) * expit(-f)

    def baseline(self, y, w):
        p = np.clip(w @ y / w.sum(), 1e-15, 1 - 1e-15)
        return np.log(p / (1 - p))


class MulticlassLogLoss(SquaredError):
    """Its hessian is K / (K - 1) times the softmax's diagonal (Friedman, 2001)."""

    def __init__(self, n_classes):
        self.n_classes = n_classes
        self.penalty_factor = min(1.0, 4.0 / n_classes)

    def indicators(self, y):
        return (y == np.arange(self.n_classes)).astype(float)

    def value(self, y, f):
        chosen = np.sum(self.indicators(y) * f, axis=1, keepdims=True)
        return logsumexp(f, axis=1, keepdims=True) - chosen

    def gradient(self, y, f):
        return softmax(f, axis=1) - self.indicators(y)

    def hessian(self, y, f):
        p = softmax(f, axis=1)
        return self.n_classes / (self.n_classes - 1) * p * (1 - p)

    def baseline(self, y, w):
        logs = np.log(np.maximum(w @ self.indicators(y) / w.sum(), 1e-15))
        return logs - logs.mean()


def make_loss(name, parameter=None, n_classes=None):
    """The loss of an estimator's parameters; `n_classes` for the classifier's."""
    if name == "log_loss":
        return BinaryLogLoss() if n_classes == 2 else MulticlassLogLoss(n_classes)
    return {
        "squared_error": SquaredError,
        "absolute_error": lambda: Quantile(0.5, 2.0),
        "quantile": lambda: Quantile(parameter),
        "huber": lambda: Huber(0.9 if parameter is None else parameter),
        "poisson": Poisson,
        "gamma": Gamma,
        "tweedie": lambda: Tweedie(1.5 if parameter is None else parameter),
    }[name]()
