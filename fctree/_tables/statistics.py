"""Target statistics: what the targets of a category say, without a sample's own target.

The statistic of a category is the mean of its targets, in units of the standard deviation of all,
shrunk towards the mean of all [1]_. A training sample takes the sums of the other folds (cross-fitting), a new sample those of all
training samples. Folds depend on nothing but a sample's number among the different ones (`copies`), strengths are those of an empirical
Bayes estimate: between categories that differ by noise alone nothing is left to learn from.

References
----------
.. [1] Micci-Barreca, "A preprocessing scheme for high-cardinality categorical attributes in
   classification and prediction problems", SIGKDD Explorations 2001.
.. [2] Pargent, Pfisterer, Thomas and Bischl, "Regularized target encoding outperforms
   traditional methods in supervised machine learning with high cardinality features",
   Computational Statistics 2022.
"""

import numpy as np

N_FOLDS = 5
MAX_TARGETS = 10


def fold_numbers(n_samples, first=0):
    """The fold of each sample from the first on, (n_samples,) int64: a hash of its number
    (SplitMix64)."""
    numbers = np.arange(first, first + n_samples, dtype=np.uint64)
    z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) % np.uint64(N_FOLDS)).astype(np.int64)


def possible_targets(n_targets, n_classes):
    """The numbers of the targets that statistics may be of, (n,) int64.

    Those of outputs, or classes. Of many classes halves: number n_classes + m is those whose number has an odd count
    of the bits of m. The first are the bits themselves, which tell all classes apart.
    """
    if n_classes is None or n_classes <= MAX_TARGETS + 1:
        return np.arange(n_targets if n_classes is None else n_classes)
    n_bits = (n_classes - 1).bit_length()
    masks = sorted(range(1, 1 << n_bits), key=lambda mask: (mask.bit_count(), mask))
    return n_classes + np.array(masks[:max(MAX_TARGETS, n_bits)])


def statistic_targets(variances, n_classes):
    """Places of the possible targets to take statistics of, from their variances.

    All classes but one, or halves of them; of more than `MAX_TARGETS` outputs those with the largest variances;
    ``n_classes`` is None for a regression.
    """
    if n_classes is not None and n_classes <= 2:
        return np.array([n_classes - 1])
    most = MAX_TARGETS if n_classes is None else min(len(variances), n_classes - 1)
    return np.sort(np.argsort(-variances, kind="stable")[:most])


def target_rows(y, n_classes, numbers):
    """The targets of these numbers, (n_statistics, n_samples) float64: a class, or a half of them, has
    indicators."""
    if n_classes is None:
        return np.ascontiguousarray(y[numbers], dtype=np.float64)
    classes, numbers = np.arange(n_classes), numbers[:, np.newaxis]
    halves = _are_odd(classes & np.maximum(numbers - n_classes, 0))
    inside = np.where(numbers < n_classes, classes == numbers, halves)
    return inside[:, y[0].astype(np.int64)].astype(np.float64)


def _are_odd(numbers):
    """Whether each number has an odd count of bits."""
    for shift in (32, 16, 8, 4, 2, 1):
        numbers = numbers ^ (numbers >> shift)
    return (numbers & 1).astype(bool)


def shrinkage(weights, sums, squares, n_samples):
    """The strength ``a`` of the prior: variance within categories over that between them.

    The moment estimates of a one-way model with random effects, inf where categories do not differ by more
    than their targets vary. ``weights`` and ``sums`` (n_categories,) are the weight of each category, and
    its weighted sum of targets less their mean; ``squares`` is the weighted sum of squares of all of these.
    """
    seen = weights > 0.0
    weights, sums = weights[seen], sums[seen]
    within_degrees = n_samples - len(weights)
    total = weights.sum()
    if len(weights) < 2 or within_degrees < 1:
        return np.inf
    explained = np.sum(sums**2 / weights)
    within = max(squares - explained, 0.0) / within_degrees
    spread = total - np.sum(weights**2) / total
    between = (explained - (len(weights) - 1) * within) / spread if spread > 0.0 else 0.0
    # What rounding leaves of targets that do not vary is no difference either.
    if between <= np.finfo(np.float64).eps * squares / total:
        return np.inf
    return within / between


def shrunk_means(weights, sums, strength, prior):
    """``prior + sums / (weights + strength)``, the prior where nothing was seen."""
    if not np.isfinite(strength):
        return np.full(np.shape(sums), prior)
    total = weights + strength
    known = (weights > 0.0) & (total > 0.0)
    return prior + np.divide(sums, total, out=np.zeros(np.shape(sums)), where=known)


def whole_sums(sums):
    """Sums over all folds, (n_levels,), from those of each as `TargetStatistics` has them."""
    return sums.sum(axis=1) if sums.shape[1] == N_FOLDS else sums[:, N_FOLDS]


class TargetStatistics:
    """The statistics of the levels of one column with one target.

    Parameters
    ----------
    weights, sums : array of shape (n_levels, N_FOLDS)
        The weight of each level in each fold, and the sum of weighted targets less their mean;
        weights have a mean of 1. Of sums for each fold's own target: those of all samples but
        the fold's, and a column more for the target of new samples, (n_levels, N_FOLDS + 1).
    prior : float
        The weighted mean of the target.
    strength : float
        Of the prior, see `shrinkage`.
    """

    def __init__(self, weights, sums, *, prior, strength):
        self._weights = weights
        self._sums = sums
        self._prior = prior
        self._strength = strength

    def of_levels(self):
        """Statistics for new samples: (n_levels,), from all folds."""
        return shrunk_means(self._weights.sum(axis=1), whole_sums(self._sums), self._strength, self._prior)

    def of_folds(self):
        """Statistics for training samples: (n_levels, N_FOLDS), from the other folds.

        Less the mean of these: it would tell the fold's own, beside a feature that does not have it.
        """
        others = ~np.eye(N_FOLDS, dtype=bool)  # added up, not subtracted: exactly 0 for nothing
        weights = np.stack([self._weights[:, rest].sum(axis=1) for rest in others], axis=1)
        if self._sums.shape[1] == N_FOLDS:
            sums = np.stack([self._sums[:, rest].sum(axis=1) for rest in others], axis=1)
            totals = np.maximum(weights.sum(axis=0), np.finfo(np.float64).tiny)
            sums = sums - weights * (sums.sum(axis=0) / totals)
        else:
            sums = self._sums[:, :N_FOLDS]
        return shrunk_means(weights, sums, self._strength, self._prior)
