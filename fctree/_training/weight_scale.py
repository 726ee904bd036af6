"""Small sample weights are scaled up, so that penalties keep their strength.

A power of two keeps ratios and ties exact. The nearest one, and not the least that brings the mean to 1, is the same for
weights that differ by rounding, such as `w / w.mean()` and those of balanced classes. Weights so large that sums of products
could overflow are scaled down; next to what remains no penalty matters.
"""

import numpy as np

from fctree._tables.sums import FixedPoint
from fctree._warnings import warn


_LARGEST = 256  # exponent of the largest mean that weights keep
_MOST_COPIES, _MOST_WEIGHT = 10.0, 3.0  # on average, without a warning: of whole numbers, and of others


class WeightScale:
    """The power of two that brings the mean of ``n`` positive weights, the largest of them given, closest to 1.

    It is 1 for larger means, as a weight of 2 is two samples; means above 2**256 come down to that. Words of weights add
    up over places.
    """

    def __init__(self, largest, n):
        self._exponent = int(np.frexp(largest)[1])
        self._fixed = FixedPoint(1.0, n)
        self._n = n

    def words(self, weight):
        """Two words of the sum, int64."""
        return self._fixed.total(np.ldexp(weight, -self._exponent))

    def exponent(self, words):
        """The power's exponent."""
        mean = self._fixed.value(words) / self._n
        exponent = -self._exponent - round(np.log2(mean))
        return max(0, exponent) + min(0, exponent + _LARGEST)

    def total(self, words):
        """The sum of the weights when they are scaled."""
        return np.ldexp(self._fixed.value(words), self._exponent + self.exponent(words))

    def warn_if_large(self, words, are_whole):
        """UserWarning of weights, all of them whole numbers or not, that leave penalties little to count beside them."""
        with np.errstate(over="ignore"):
            mean = np.ldexp(self._fixed.value(words) / self._n, self._exponent)
        if mean > (_MOST_COPIES if are_whole else _MOST_WEIGHT):
            warn(
                f"the mean of sample_weight is {mean:.4g}: a row of weight w (times class_weight) counts as w samples, beside "
                "which regularisation has little effect; pass sample_weight / sample_weight.mean() unless rows do stand for "
                "that many samples",
            )


def are_whole(weight):
    """Whether all weights are whole numbers."""
    return bool(np.all(np.floor(weight) == weight))


def rescale_small_weights(weight):
    """Training weights, scaled up if they are small (or down if they are huge); None for none.

    UserWarning where they are so large that penalties count little beside them.
    """
    if weight is None:
        return None
    scale = WeightScale(weight.max(), np.count_nonzero(weight))
    words = scale.words(weight)
    scale.warn_if_large(words, are_whole(weight))
    exponent = scale.exponent(words)
    return np.ldexp(weight, exponent) if exponent else weight
