"""Units of outputs: what trees choose must not go by the units that targets happen to have."""

import numpy as np

from fctree._native.core import deviations


_SAFE_EXPONENT = 128  # 2**128 to the fourth times many samples is finite
# Of nodes or leaves, by output.
_OF_OUTPUTS = ("value", "leaf_coef", "leaf_intercept", "leaf_lower", "leaf_upper")


def output_units(targets, weight):
    """The standard deviations of targets (n_samples, n_outputs), 1 of constants; of a single output 1."""
    if targets.shape[1] == 1:
        return np.ones(1)
    return deviations(np.ascontiguousarray(targets.T), weight)


def target_unit(targets, weight):
    """The standard deviation of a single output, 1 of a constant, for what depends on its unit; 0 of several outputs,
    which are divided by theirs."""
    return 0.0 if targets.shape[1] > 1 else deviations(np.ascontiguousarray(targets.T), weight)[0]


def square_unit(targets):
    """A power of two; of targets over it squares of squares are neither infinite nor 0. It is 1 where they are not anyway."""
    exponent = int(np.frexp(np.abs(targets).max(initial=0.0))[1])
    return 1.0 if abs(exponent) <= _SAFE_EXPONENT else float(np.ldexp(1.0, exponent - 1))


def in_squares_of(unit, values):
    """Mean squares of targets over a `square_unit` as those of the targets, maybe infinite or 0."""
    with np.errstate(over="ignore", under="ignore"):
        return values * unit * unit


def in_units(arrays, unit):
    """The arrays of trees, by name, that were grown on targets over ``unit``, for the targets themselves."""
    if len(unit) == 1:
        return arrays
    outputs = {name: arrays[name] for name in _OF_OUTPUTS if name in arrays}
    return arrays | {name: a * (unit if a.ndim == 2 else unit[:, np.newaxis]) for name, a in outputs.items()}
