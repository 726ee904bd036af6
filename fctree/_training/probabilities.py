"""Probabilities of classes from their scores."""

import numpy as np


def softmax(scores):
    """The softmax of each row: the bytes of SciPy's, which looks for array types first."""
    exponentials = np.exp(scores - np.maximum.reduce(scores, axis=1, keepdims=True))
    return exponentials / np.add.reduce(exponentials, axis=1, keepdims=True)


def of_two(positive):
    """Probabilities of two classes, (n_samples, 2), from those of the second."""
    both = np.empty((len(positive), 2))
    np.subtract(1.0, positive, out=both[:, 0])
    both[:, 1] = positive
    return both
