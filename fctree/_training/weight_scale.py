"""Sample weights that are not numbers of copies are scaled, so that penalties keep their strength.

A power of two keeps ratios and ties exact. The nearest one, and not the least that brings the mean to 1, is the same for
weights that differ by rounding, such as `w / w.mean()` and those of balanced classes. Large whole numbers may be numbers of
copies, and stay; if so large that sums of products could overflow, they are scaled down, and no penalty matters beside them.
"""

import warnings

import numpy as np

from fctree._tables.sums import FixedPoint


_LARGEST = 256  # exponent of the largest mean that weights keep
_LARGEST_FRACTIONS = 1  # the same of weights that are not all whole numbers
_MOST_WEIGHT = 10.0  # on average, without a warning


class WeightScale:
    """The power of two that brings the mean of ``n`` positive weights, the largest of them given, closest to 1.

    It is 1 for larger means of at most 2**1.5, and for those of ``whole`` numbers, as a weight of 2 is two samples; but
    means above 2**256 come down to that. Words of weights add up over places.
    """

    def __init__(self, largest, n, *, whole):
        self._whole = whole
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
        if not self._whole and exponent < -_LARGEST_FRACTIONS:
            return exponent
        return max(0, exponent) + min(0, exponent + _LARGEST)


def are_whole(weight):
    """Whether all weights are whole numbers, as numbers of copies are."""
    return bool(np.all(np.floor(weight) == weight))


def rescale_weights(weight):
    """Training weights, scaled up if they are small, or down if they are large fractions (or huge); None for none.

    UserWarning where they are so large that penalties do not count beside them.
    """
    if weight is None:
        return None
    with np.errstate(over="ignore"):
        mean = weight[weight > 0.0].mean()
    whole = are_whole(weight)
    if whole and mean > _MOST_WEIGHT:
        warnings.warn(
            f"the mean of sample_weight is {mean:.4g}: a weight counts as so many samples, and penalties hardly matter "
            "beside them; pass sample_weight / sample_weight.mean() unless each row stands for so many",
            UserWarning,
            stacklevel=4,
        )
    scale = WeightScale(weight.max(), np.count_nonzero(weight), whole=whole)
    exponent = scale.exponent(scale.words(weight))
    return np.ldexp(weight, exponent) if exponent else weight
