"""Fit the constants of a stated cost formula to measured times."""

import numpy as np
from scipy.optimize import nnls


def fit_constants(terms, seconds):
    """Nonnegative constants that minimise the squares of measured / formula - 1, roughly.

    Each case is divided by its measured time, so that a case of a millisecond counts as much
    as one of a second; columns are scaled to size 1 for the solver's sake.
    """
    relative = terms / seconds[:, None]
    scale = np.linalg.norm(relative, axis=0)
    constants, _ = nnls(relative / scale, np.ones(len(seconds)))
    return constants / scale
