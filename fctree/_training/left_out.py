"""Whether one model is better than another on samples that neither has seen."""

import numpy as np

_STANDARD_ERRORS = 2.0


def clearly_positive(differences, weight):
    """Whether the weighted mean exceeds two standard errors; values that are not finite do not count.

    Parameters
    ----------
    differences : array of shape (n_samples,)
        Loss of one model less that of the other, of each sample.
    weight : array of shape (n_samples,)
    """
    known = np.isfinite(differences) & (weight > 0.0)
    if not known.any():
        return False
    differences, share = differences[known], weight[known] / weight[known].sum()
    mean = share @ differences
    return bool(mean > _STANDARD_ERRORS * np.sqrt(share**2 @ (differences - mean) ** 2))
