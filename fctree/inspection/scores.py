"""Scores of predictions, each with its influence function.

A score V is a function of the distribution of (y, prediction); its estimate is
``V + mean(influence)`` to first order, so the standard error of V, of a difference of two V and of
any linear combination of them is that of the mean of their influence functions
(Williamson, Gilbert, Simon and Carone, 2023). With weights w, means are weighted ones.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from fctree._training.target_units import square_unit

_LEAST_PROBABILITY = 1e-15


@dataclass(frozen=True, eq=False)
class Target:
    """Targets (n_samples,) or (n_samples, n_outputs), or numbers of classes, that predictions are compared
    with, and weights or None."""

    y: np.ndarray
    weight: np.ndarray | None
    n_classes: int | None

    def mean(self, values):
        """Weighted mean over the samples."""
        return np.average(values, axis=0, weights=self.weight)

    def take(self, rows):
        """The target of these rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Target(self.y[rows], weight, self.n_classes)

    def error_of_mean(self, influence):
        """Standard error of the weighted mean of influence values (..., n_samples)."""
        unit = square_unit(influence)
        squares = (influence / unit) ** 2
        if self.weight is None:
            return unit * np.sqrt(np.mean(squares, axis=-1) / len(self.y))
        return unit * np.sqrt(squares @ self.weight**2) / self.weight.sum()


def target_of(samples):
    """The `Target` of some samples."""
    if samples.classes is None:
        return Target(np.asarray(samples.y, dtype=np.float64), samples.sample_weight, None)
    labels = np.searchsorted(samples.classes, samples.y)
    return Target(labels, samples.sample_weight, len(samples.classes))


def shaped(target, outputs):
    """A model's predictions in the shape of the targets, or (n_samples, n_classes); ValueError for other numbers of them."""
    shape = target.y.shape if target.n_classes is None else (len(target.y), target.n_classes)
    outputs = np.asarray(outputs)
    if outputs.size != np.prod(shape) or outputs.shape[:1] != shape[:1]:
        raise ValueError(f"the model's predictions have the shape {outputs.shape}, expected {shape}")
    return outputs.reshape(shape)


def mean_loss(outputs, samples):
    """Mean squared error, or log-loss for classes."""
    target = target_of(samples)
    losses = _squared_errors if target.n_classes is None else _log_losses
    return float(target.mean(losses(target, shaped(target, outputs))))


def _squared_errors(target, outputs):
    """Mean over the outputs; for classes the Brier score, with two of them of the second."""
    if target.n_classes is None:
        errors = (target.y - outputs) ** 2
        return errors if errors.ndim == 1 else errors.mean(axis=1)
    if target.n_classes == 2:
        return (target.y - outputs[:, 1]) ** 2
    return ((np.eye(target.n_classes)[target.y] - outputs) ** 2).sum(axis=1)


def _log_losses(target, outputs):
    of_label = outputs[np.arange(len(target.y)), target.y]
    return -np.log(np.maximum(of_label, _LEAST_PROBABILITY))


def _of_mean(target, values):
    value = target.mean(values)
    return float(value), values - value


def neg_mean_squared_error(target, outputs):
    """Negative mean squared error."""
    return _of_mean(target, -_squared_errors(target, outputs))


def neg_root_mean_squared_error(target, outputs):
    """Negative root of the mean squared error, the mean over outputs."""
    y = target.y.reshape(len(target.y), -1)
    unit = square_unit(y)
    errors = ((y - outputs.reshape(y.shape)) / unit) ** 2
    mse = target.mean(errors)
    root = np.sqrt(mse)
    influence = (mse - errors) / np.where(root > 0.0, 2.0 * root, 1.0)
    return float(-root.mean() * unit), influence.mean(axis=1) * unit


def neg_mean_poisson_deviance(target, outputs):
    """Negative mean Poisson deviance, of several outputs their mean."""
    y, mean = _positive(target, outputs, "neg_mean_poisson_deviance", zero_allowed=True)
    return _of_mean(target, -2.0 * (xlogy(y, y / mean) - y + mean).mean(axis=1))


def neg_mean_gamma_deviance(target, outputs):
    """Negative mean gamma deviance, of several outputs their mean."""
    y, mean = _positive(target, outputs, "neg_mean_gamma_deviance", zero_allowed=False)
    return _of_mean(target, -2.0 * (np.log(mean / y) + y / mean - 1.0).mean(axis=1))


def _positive(target, outputs, scoring, *, zero_allowed):
    """Targets and predictions, (n_samples, n_outputs); ValueError for those that the deviance does not take."""
    y, mean = (values.reshape(len(target.y), -1) for values in (target.y, outputs))
    if np.any(y < 0.0) or not (zero_allowed or np.all(y > 0.0)):
        raise ValueError(f"scoring={scoring!r} needs targets {'of 0 or more' if zero_allowed else 'above 0'}, got {y.min():.4g}")
    if not np.all(mean > 0.0):
        raise ValueError(
            f"scoring={scoring!r} needs predictions above 0, and a model predicts {mean.min():.4g}: take one with a log "
            "link, such as loss='poisson' or 'gamma' of boosting"
        )
    return y, mean


def neg_log_loss(target, outputs):
    """Mean log-probability of the label."""
    return _of_mean(target, -_log_losses(target, outputs))


def accuracy(target, outputs):
    """Share of correctly classified samples."""
    return _of_mean(target, (outputs.argmax(axis=1) == target.y).astype(np.float64))


def r2(target, outputs):
    """1 - MSE / variance, the mean over outputs."""
    y = target.y.reshape(len(target.y), -1)
    unit = square_unit(y)
    errors = ((y - outputs.reshape(y.shape)) / unit) ** 2
    spread = ((y - target.mean(y)) / unit) ** 2
    mse, variance = target.mean(errors), target.mean(spread)
    if not np.all(variance > 0):
        raise ValueError("scoring='r2' needs test targets that are not all equal")
    influence = (mse / variance * (spread - variance) - (errors - mse)) / variance
    return float(np.mean(1.0 - mse / variance)), influence.mean(axis=1)


def roc_auc(target, outputs):
    """Area under the ROC curve of the second class, ties counting one half."""
    weight = np.ones(len(target.y)) if target.weight is None else target.weight
    positive, scores = target.y == 1, outputs[:, 1]
    total = {True: weight[positive].sum(), False: weight[~positive].sum()}
    placement = np.empty(len(scores))
    placement[positive] = _share_below(scores[positive], scores[~positive], weight[~positive])
    placement[~positive] = 1 - _share_below(scores[~positive], scores[positive], weight[positive])
    auc = float(np.average(placement[positive], weights=weight[positive]))
    share = np.where(positive, total[True], total[False]) / weight.sum()
    return auc, (placement - auc) / share


def _share_below(values, of, weight):
    """Weighted share of `of` below each value, equal ones counting one half."""
    order = np.argsort(of, kind="stable")
    summed = np.append(0.0, np.cumsum(weight[order]))
    below = summed[np.searchsorted(of[order], values, side="left")]
    not_above = summed[np.searchsorted(of[order], values, side="right")]
    return 0.5 * (below + not_above) / summed[-1]


SCORES = {
    "neg_mean_squared_error": neg_mean_squared_error,
    "r2": r2,
    "neg_root_mean_squared_error": neg_root_mean_squared_error,
    "neg_mean_poisson_deviance": neg_mean_poisson_deviance,
    "neg_mean_gamma_deviance": neg_mean_gamma_deviance,
    "neg_brier_score": neg_mean_squared_error,
    "accuracy": accuracy,
    "neg_log_loss": neg_log_loss,
    "roc_auc": roc_auc,
}
_FOR_NUMBERS = {"r2", "neg_root_mean_squared_error", "neg_mean_poisson_deviance", "neg_mean_gamma_deviance"}
_FOR_CLASSES = {"neg_brier_score", "accuracy", "neg_log_loss", "roc_auc"}


def find_score(scoring, classes):
    """The score's function ``(target, outputs) -> (value, influence)``; ValueError for an unknown name, or
    a score that does not fit the targets."""
    if not isinstance(scoring, str) or scoring not in SCORES:
        raise ValueError(f"scoring must be one of {', '.join(SCORES)}, got {scoring!r}")
    if classes is None and scoring in _FOR_CLASSES:
        raise ValueError(f"scoring={scoring!r} is for classifiers; use one of the errors or 'r2'")
    if classes is not None and scoring in _FOR_NUMBERS:
        raise ValueError(f"scoring={scoring!r} is for regressors; use 'accuracy' or 'neg_log_loss'")
    if scoring == "roc_auc" and len(classes) != 2:
        raise ValueError(f"scoring='roc_auc' needs two classes, got {len(classes)}")
    return SCORES[scoring]
