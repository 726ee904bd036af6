"""Losses written by users: functions that return gradients and hessians."""

import numpy as np

# Hessians below this share of their mean are raised to it: they divide gradients.
_LEAST_HESSIAN = 1e-6


class CustomLoss:
    """A function ``loss(y_true, raw_prediction) -> (gradient, hessian)`` as the core calls it.

    ``targets`` are those of the training samples as the function takes them, ``one_score`` says
    whether raw scores and derivatives have the shape (n_samples,) or (n_samples, n_outputs).
    """

    def __init__(self, function, targets, one_score):
        self.function = function
        self.targets = np.array(targets, order="C")
        self.targets.flags.writeable = False
        self.one_score = one_score

    def __call__(self, raw, gradient, hessian):
        scores = np.array(raw[0] if self.one_score else raw.T, order="C")
        found = self.function(self.targets, scores)
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            several = f" of {len(found)}" if isinstance(found, (tuple, list)) else ""
            raise TypeError(
                f"loss must return a tuple (gradient, hessian), got {type(found).__name__}{several}"
            )
        shape = (len(raw.T),) if self.one_score else raw.T.shape
        for name, values, out in zip(("gradient", "hessian"), found, (gradient, hessian)):
            out[...] = _checked(name, values, shape).T
        if np.any(hessian < 0.0):
            raise ValueError(f"loss returned a negative hessian: the smallest is {hessian.min()}")
        mean = hessian.mean()
        if mean == 0.0 and np.any(gradient):
            raise ValueError(
                "loss returned a hessian that is 0 for all samples; 1 makes plain gradient steps"
            )
        np.maximum(hessian, _LEAST_HESSIAN * mean if mean > 0.0 else 1.0, out=hessian)


def _checked(name, values, shape):
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"loss returned a {name} of type {values.dtype}, not of numbers")
    if values.shape != shape:
        raise ValueError(f"loss returned a {name} of shape {values.shape}, expected {shape}")
    if not np.all(np.isfinite(values)):
        raise ValueError(f"loss returned a {name} that is not finite")
    return values
