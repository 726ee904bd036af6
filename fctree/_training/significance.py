"""Whether one model is better than another on samples that neither has seen."""

import numpy as np

from fctree._training.target_units import square_unit

_STANDARD_ERRORS = 2.0


def clearly_positive(differences, weight):
    """Whether the weighted mean exceeds two standard errors; values that are not finite do not count.

    ``differences`` (n_samples,) are losses of one model less those of the other.
    """
    known = np.isfinite(differences) & (weight > 0.0)
    if not known.any():
        return False
    differences, share = differences[known] / square_unit(differences[known]), weight[known] / weight[known].sum()
    mean = share @ differences
    return bool(mean > _STANDARD_ERRORS * np.sqrt(share**2 @ (differences - mean) ** 2))
