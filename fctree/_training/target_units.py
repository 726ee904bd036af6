"""Units of targets: what models choose must not go by the units that targets happen to have."""

from dataclasses import dataclass

import numpy as np

from fctree._native.core import deviations


_SAFE_EXPONENT = 128  # 2**128 to the fourth times many samples is finite
# Of nodes or leaves, by output.
_OF_OUTPUTS = ("value", "leaf_coef", "leaf_intercept", "leaf_lower", "leaf_upper")


@dataclass(frozen=True)
class TargetUnits:
    """Units of targets while trees grow.

    Attributes
    ----------
    of_outputs : ndarray of shape (n_outputs,)
        What targets are divided by.
    of_single : float
        The standard deviation of a single output, which is grown as it comes, for what depends on its unit; else 0.
    """

    of_outputs: np.ndarray
    of_single: float = 0.0

    def restored(self, arrays):
        """The arrays of trees, by name, that were grown on divided targets, for the targets themselves."""
        unit = self.of_outputs
        if len(unit) == 1:
            return arrays
        outputs = {name: arrays[name] for name in _OF_OUTPUTS if name in arrays}
        return arrays | {name: a * (unit if a.ndim == 2 else unit[:, np.newaxis]) for name, a in outputs.items()}


def find_units(targets, weight):
    """`TargetUnits` of targets (n_samples, n_outputs): several are divided by their standard deviations, 1 of constants."""
    found = deviations(np.ascontiguousarray(targets.T), weight)
    return TargetUnits(found) if len(found) > 1 else TargetUnits(np.ones(1), found[0])


def exponent_of_largest(values):
    """The least power of two that no value reaches, as its exponent; 0 where all are 0."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])


def square_unit(targets):
    """A power of two: fourth powers of targets divided by it neither overflow nor underflow. It is 1 where they do not anyway."""
    exponent = exponent_of_largest(targets)
    return 1.0 if abs(exponent) <= _SAFE_EXPONENT else float(np.ldexp(1.0, exponent - 1))


def comparing_units(targets, weight):
    """Units in which errors of outputs (n_samples, n_outputs) are compared: the deviations of several, 1 of one; and the
    `square_unit` of what they leave of the targets."""
    of_outputs = find_units(targets, weight).of_outputs
    return of_outputs, square_unit((targets if weight is None else targets[weight > 0.0]) / of_outputs)


def in_squares_of(unit, values):
    """Mean squares of targets over a `square_unit` as those of the targets, maybe infinite or 0."""
    with np.errstate(over="ignore", under="ignore"):
        return values * unit * unit
