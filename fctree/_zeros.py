"""Arrays of almost nothing but zeros, such as the coefficients of trees that split on few of many features."""

import math

import numpy as np

_FEWEST_BYTES = 1 << 16  # of an array whose zeros are worth leaving out
_SHARE = 1 / 20  # of its numbers that may differ from 0


def is_mostly_zero(array):
    """Whether leaving out the zeros of this array, of floats, makes it much smaller."""
    return array.nbytes >= _FEWEST_BYTES and array.dtype.kind == "f" and np.count_nonzero(array) < _SHARE * array.size


class MostlyZero:
    """An array of float64 as pickles have it: its shape, and the numbers that are not zero."""

    def __init__(self, array):
        self.shape = array.shape
        flat = array.ravel()
        self.positions = np.flatnonzero(flat.view(np.int64))  # also those of -0.0, so that no bit changes
        self.values = flat[self.positions]

    def array(self):
        """The array with its zeros."""
        flat = np.zeros(math.prod(self.shape))
        flat[self.positions] = self.values
        return flat.reshape(self.shape)


def without_zeros(value):
    """The value; of an array that `is_mostly_zero` a `MostlyZero`."""
    packs = isinstance(value, np.ndarray) and value.dtype == np.float64 and is_mostly_zero(value)
    return MostlyZero(value) if packs else value


def with_zeros(value):
    """The value that `without_zeros` was given."""
    return value.array() if type(value) is MostlyZero else value
