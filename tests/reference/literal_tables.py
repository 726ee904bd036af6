"""Target statistics as docs/algorithms/tables.md states them, a sample at a time."""

import math

N_FOLDS = 5
_MASK = 2**64 - 1


def fold(number):
    """The fold of a sample, by SplitMix64 of its number."""
    z = (number + 1) * 0x9E3779B97F4A7C15 & _MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return (z ^ z >> 31) % N_FOLDS


def mean(values, weights):
    """The weighted mean."""
    total = math.fsum(weights)
    return math.fsum(w * v for v, w in zip(values, weights, strict=True)) / total


def deviation(values, weights):
    """The weighted standard deviation: the unit of statistics."""
    centre = mean(values, weights)
    return math.sqrt(mean([(value - centre) ** 2 for value in values], weights))


def strength(categories, targets, weights):
    """The variance within categories over that between them: the moment estimates of a one-way
    model with random effects (Searle, Casella and McCulloch 1992)."""
    n = len(targets)
    prior = mean(targets, weights)
    groups = {}
    for category, target, weight in zip(categories, targets, weights, strict=True):
        groups.setdefault(category, []).append((target, weight))
    within = between = 0.0
    sizes = []
    for members in groups.values():
        size = math.fsum(weight for _, weight in members)
        centre = math.fsum(weight * target for target, weight in members) / size
        within += math.fsum(weight * (target - centre) ** 2 for target, weight in members)
        between += size * (centre - prior) ** 2
        sizes.append(size)
    if len(groups) < 2 or n <= len(groups):
        return math.inf
    within /= n - len(groups)
    total = math.fsum(sizes)
    spread = total - math.fsum(size**2 for size in sizes) / total
    between = (between - (len(groups) - 1) * within) / spread
    return within / between if between > 1e-12 else math.inf


def counts_little(a, *, n_samples, n_levels):
    """Whether the prior weighs more than a third of the samples of an average category."""
    return a > n_samples / n_levels / 3.0


def statistic(category, left_out, categories, targets, weights, prior, a):
    """The statistic of a category from the samples outside of a fold, less their mean (None: from all)."""
    outside = [
        (own, target, weight)
        for number, (own, target, weight) in enumerate(zip(categories, targets, weights, strict=True))
        if fold(number) != left_out
    ]
    used = [(target, weight) for own, target, weight in outside if own == category]
    if not used or math.isinf(a):
        return prior
    centre = mean([t for _, t, _ in outside], [w for *_, w in outside])
    total = math.fsum(weight for _, weight in used)
    return prior + math.fsum(weight * (target - centre) for target, weight in used) / (total + a)


def quantile(targets, weights, share):
    """The least target up to which there is this share of the weight."""
    reached = 0.0
    for target, weight in sorted(zip(targets, weights, strict=True)):
        reached += weight
        if reached >= share * math.fsum(weights):
            break
    return target


def cut_off(targets, weights):
    """Targets of a robust loss, cut off three interquartile ranges from the quartiles."""
    low, high = (quantile(targets, weights, share) for share in (0.25, 0.75))
    reach = 3.0 * (high - low)
    return [min(max(target, low - reach), high + reach) for target in targets]


def statistics(categories, targets, weights):
    """Those of the training samples, and of the categories for new samples as a dict."""
    average = math.fsum(weights) / len(weights)
    weights = [weight / average for weight in weights]
    prior = mean(targets, weights)
    a = strength(categories, targets, weights)
    known = (categories, targets, weights, prior, a)
    own = [statistic(c, fold(number), *known) for number, c in enumerate(categories)]
    return own, {c: statistic(c, None, *known) for c in set(categories)}, prior, a
