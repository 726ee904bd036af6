"""Boosting and forests of oblique trees, word by word: the twin of native/ensembles/boost.cpp.

It grows each tree with `MemberTree`, whose single trees have a twin of their own, or where weights have second
derivatives in them with that twin, and does the rest in plain NumPy: the targets and weights of a round, draws of
samples, bounds, revised constants, scores.
"""

import struct
from unittest.mock import patch

import numpy as np
from scipy.stats import chi2
from reference.literal_losses import (
    BinaryLogLoss, MulticlassLogLoss, SquaredError, lower_upper_quantile, residual_scale)
from reference.literal_members import LiteralMember, LiteralSum, MemberTree
from reference.literal_philox import FEATURE_SAMPLE, ROW_SAMPLE, LiteralRandom

MASK = 2**64 - 1
LARGEST_TARGET, LARGEST_STEP, FARTHEST = 4.0, 4.0, 6.0
MOST_LENGTHENING = 2.0
SAMPLES_OF_COEFFICIENT = 20.0


def mixed(bits):
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & MASK
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & MASK
    return bits ^ bits >> 31


def hash_of(values):
    """64 bits that stand for what a sample is."""
    total = 0
    for value in values:
        bits = struct.unpack("<Q", struct.pack("<d", float(value) + 0.0))[0]
        total = mixed((total + 0x9E3779B97F4A7C15 + bits) & MASK)
    return total


def are_coincidences(X, Y):
    """Whether equal samples are drawn one by one."""
    targets = {}
    for x, y in zip(X, Y):
        targets.setdefault(tuple(x), set()).add(tuple(y))
    n_different = sum(map(len, targets.values()))
    n_mixed = sum(len(targets[tuple(x)]) > 1 for x in X)
    return n_different < len(X) and (n_mixed > 0.05 * len(X) or len(X) >= 8 * n_different)


def deviations(Y, weight):
    return np.sqrt(np.average((Y - np.average(Y, axis=0, weights=weight)) ** 2, axis=0, weights=weight))


def hashes_of(X, Y):
    """Hashes of samples with targets in units of their deviations."""
    Y = np.float32(Y)
    hashes = [hash_of([*x, *y]) for x, y in zip(X, Y)]
    return [mixed(h + i & MASK) for i, h in enumerate(hashes)] if are_coincidences(X, Y) else hashes


def draws(X, Y, seed, tree, hashes=None):
    """A uniform number for each sample."""
    hashes = hashes or hashes_of(X, Y)
    random = LiteralRandom(seed, ROW_SAMPLE)
    return np.array([random.uniform(tree, h & 0xFFFFFFFF, h >> 32) for h in hashes])


def poisson_count(uniform, mean):
    """The least k with P(at most k) above the number."""
    k, probability, rest = 0, np.exp(-mean), uniform
    while rest >= probability:
        rest -= probability
        k += 1
        probability *= mean / k
    return k


def columns_of(n_features, share, seed, iteration):
    random = LiteralRandom(seed, FEATURE_SAMPLE)
    keys = sorted((random.words(iteration, 0, j)[0], j) for j in range(n_features))
    return sorted(j for _, j in keys[: int(np.ceil(share * n_features))])


CLASS_LOSSES = BinaryLogLoss, MulticlassLogLoss


def has_hessian(loss):
    return type(loss).hessian is not SquaredError.hessian


def order_statistic(loss, values, weights):
    """Leaf value for these residuals: their quantile, or Friedman's clipped mean."""
    if loss.leaf == "quantile":
        return lower_upper_quantile(values, weights, loss.order)
    median = lower_upper_quantile(values, weights, 0.5)
    return median + np.average(np.clip(values - median, -loss.delta, loss.delta), weights=weights)


def working_response(loss, y, F, sample_weight, in_bag):
    """Targets (n, K) and weights (n,) of a round's least-squares problem."""
    gradient = loss.gradient(y, F)
    if loss.leaf == "newton":
        hessian = loss.hessian(y, F)
        if has_hessian(loss):
            hessian = np.maximum(hessian, np.abs(gradient) / LARGEST_TARGET)
        curvature = hessian.max(axis=1)
        return -gradient / curvature[:, np.newaxis], np.where(in_bag, sample_weight * curvature, 0)
    far = FARTHEST * residual_scale(y, F, sample_weight)
    residual, slope = np.minimum(np.abs(y - F), far), np.abs(gradient)
    if loss.leaf == "clipped_mean":
        curvature = np.where(residual > 0, slope / np.where(residual > 0, residual, 1), 1)
    else:
        share = max(1.17 * (4 * loss.order * (1 - loss.order)) ** 2, 0.035)
        least = share / FARTHEST * far
        shares = np.where(residual > 0, sample_weight[:, np.newaxis], 0)
        slope = np.where(residual > 0, slope, np.average(slope, weights=shares))
        curvature = slope / np.maximum(residual, least)
    descent = curvature * np.clip(y - F, -far, far)  # minus the parabola's gradient
    curvature = curvature.max(axis=1)
    weight = np.where(in_bag, sample_weight * curvature, 0.0)
    weight *= sample_weight[in_bag].sum() / weight.sum()
    return descent / curvature[:, np.newaxis], weight


def penalised_error(X, target, alpha):
    """The least squared error plus penalty of a ridge model; rows are centred and weighted."""
    X = np.vstack([X, np.sqrt(alpha) * np.eye(X.shape[1])])
    target = np.vstack([target, np.zeros((X.shape[1], target.shape[1]))])
    coef = np.linalg.lstsq(X, target, rcond=None)[0]
    return np.sum((target - X @ coef) ** 2), coef


def cross_validation_error(X, target, alpha, n, cost=1.0):
    """Generalised, of a ridge model with an intercept; infinite without degrees of freedom to spare."""
    coef = penalised_error(X, target, alpha)[1]
    freedom = np.trace(X @ np.linalg.solve(X.T @ X + alpha * np.eye(X.shape[1]), X.T))
    share = 1 - (1 + cost * freedom) / n
    return np.sum((target - X @ coef) ** 2) / share**2 if share > 0 else np.inf


def clear_bends(n_above, n_features):
    """The number of features that bend the target, if n_above do so more than 2 log(d), in mean squares."""
    largest = chi2.cdf(2 * np.log(n_features), 1) ** n_features  # of squared normal numbers: is less, to a hundredth
    share = 1 - np.exp(-n_features * chi2.sf(2 * np.log(n_features), 1))
    assert abs(1 - share - largest) < 0.02
    return round(max(n_above - n_features * share, 0) / (1 - share))


def relevant_features(Z, target, weight, sample_weight, alpha):
    """The features that a tree takes of many: all, or those of forward selection."""
    n_wanted, n_features = 7 + target.shape[1], Z.shape[1]
    if n_features <= n_wanted:
        return list(range(n_features))
    total, roots = weight.sum(), np.sqrt(weight)[:, np.newaxis]
    # Each of sample_weight samples has its share of a row's weight.
    samples = np.maximum(sample_weight, 1)
    number = samples[weight > 0].sum()
    are_few, judges_all = number < n_features, number >= 2 * n_features
    n = number if are_few else total**2 / np.sum(weight * weight / samples)
    Z = Z - np.average(Z, axis=0, weights=weight)
    X, y = roots * Z, roots * (target - np.average(target, axis=0, weights=weight))
    residual = roots * (y - X @ penalised_error(X, y, alpha)[1] if judges_all else y)
    variance = np.sum(X**2, axis=0) / total
    bends = np.zeros(n_features)
    for output in residual.T:
        hessian = (Z.T * output) @ Z / total
        decrease = total * hessian**2 / np.outer(variance, variance)
        bends += (decrease / (1 + np.eye(n_features))).max(axis=1)
    chance = 2 * np.log(n_features) * np.sum((y - X @ penalised_error(X, y, alpha)[1]) ** 2) / min(n, total)
    clear = clear_bends(np.sum(bends > chance), n_features)
    size, most, taken = max(n_wanted, clear) if judges_all else n_wanted, n_features // 4, []
    for _ in range(min(max(size, most), n_features)):
        before = penalised_error(X[:, taken], y, alpha)[0]
        gains = {j: before - penalised_error(X[:, [*taken, j]], y, alpha)[0] + bends[j]
                 for j in range(n_features) if j not in taken}
        taken.append(max(gains, key=gains.get))
    of_all = cross_validation_error(X, y, alpha, n)

    def error(size, share):
        return cross_validation_error(X[:, taken[:size]], y, alpha, n, 1 + share * np.log(n_features / size))

    tried = [(size, 0.0), *((size * 2**k, 1.0) for k in range(1, 9) if size * 2**k <= most)]
    if are_few:
        while 2 * size <= most and error(2 * size, 0.5) < error(size, 0.5):
            size *= 2
        tried = [(smaller, 0.5) for smaller in range(size, 0, -1)]
    for size, share in tried:
        if error(size, share) <= of_all and error(size, share) < np.inf:
            return sorted(taken[:size])
    return list(range(n_features))


class LiteralTree:
    """A tree on mapped features with its leaves bounded and revised."""

    def __init__(self, tree, Z, weight, extrapolation, largest=np.inf):
        self.tree = tree
        self.shift = np.zeros((self.tree.n_leaves, self.tree.n_outputs))
        self.factor = np.ones_like(self.shift)
        self.extrapolation, self.largest = extrapolation, largest
        self.Z, self.weight = Z, weight

    def leaves(self, Z):
        return self.tree.leaf_index[self.tree.apply(np.ascontiguousarray(Z))]

    def free(self, Z):
        leaf = self.leaves(Z)
        return self.factor[leaf] * (self.tree.predict(np.ascontiguousarray(Z)) + self.shift[leaf])

    def shrink(self, l2_leaf_reg):
        """As if so much weight of targets 0 were in each leaf."""
        for node in np.flatnonzero(self.tree.children_left < 0):
            weight, leaf = self.tree.weighted_n_node_samples[node], self.tree.leaf_index[node]
            mean = self.tree.value[node, :, 0] + self.shift[leaf]
            self.shift[leaf] -= l2_leaf_reg / (weight + l2_leaf_reg) * mean

    def lengthen(self, curvature, l2_leaf_reg):
        """Towards the Newton step of each score: curvature (n, K) are the scores' own, with weights."""
        leaf, used = self.leaves(self.Z), self.weight > 0
        for index in np.unique(leaf[used]):
            rows = used & (leaf == index)
            own, largest = curvature[rows].sum(axis=0) + l2_leaf_reg, self.weight[rows].sum() + l2_leaf_reg
            slopes = self.Z.shape[1] if len(getattr(self.tree, "leaf_coef", "a literal tree's")) else 0
            cautious = largest / (own + SAMPLES_OF_COEFFICIENT * (1 + slopes))
            self.factor[index] = np.maximum(np.minimum(largest / own, MOST_LENGTHENING), cautious)

    def revise(self, loss, residual, sample_weight, farthest):
        """Adds to each leaf the loss's order statistic of what is left, no more than so much."""
        rest, leaf, used = residual - self.free(self.Z), self.leaves(self.Z), self.weight > 0
        for index in np.unique(leaf[used]):
            rows = used & (leaf == index)
            for k in range(rest.shape[1]):
                value = order_statistic(loss, rest[rows, k], sample_weight[rows])
                self.shift[index, k] += np.clip(value, -farthest[k], farthest[k])

    def bounded(self, Z):
        used = self.weight > 0
        inside, leaf = self.free(self.Z)[used], self.leaves(self.Z)[used]
        scores, own = self.free(Z), self.leaves(Z)
        for index in np.unique(own):
            low, high = inside[leaf == index].min(axis=0), inside[leaf == index].max(axis=0)
            wider = self.extrapolation * (high - low)
            scores[own == index] = np.clip(scores[own == index],
                                           np.maximum(low - wider, -self.largest),
                                           np.minimum(high + wider, self.largest))
        return scores


def best_of(gains):
    """Number of the tree with the largest gain on other rows, less what later trees would have had of its gain in the bag."""
    left_out, in_bag = gains.T
    share = np.max(np.where(left_out > 0.0, np.where(left_out < in_bag, left_out / np.where(in_bag > 0.0, in_bag, 1.0), 1.0), 0.0))
    return int(np.argmax(left_out - share**2 * in_bag))


class LiteralBoosting:
    """As `CurvatureBoostingRegressor` without step trees, or its classifier by its loss; y is (n, K).

    A learning rate of None is "auto"; with `linear_competes` linear models are a kind of tree.
    """

    def __init__(self, loss, *, seed, max_iter, learning_rate=0.05, subsample=1.0,
                 colsample=1.0, extrapolation=0.0, l2_leaf_reg=1.0, tree=None,
                 linear_competes=False):
        self.loss, self.seed, self.max_iter = loss, seed, max_iter
        self.learning_rate, self.subsample, self.colsample = learning_rate, subsample, colsample
        self.extrapolation, self.l2_leaf_reg, self.tree = extrapolation, l2_leaf_reg, tree or {}
        self.linear_competes = linear_competes

    def fit(self, X, y, sample_weight=None):
        w = np.ones(len(X)) if sample_weight is None else sample_weight
        self.mean = np.average(X, axis=0, weights=w)
        self.scale = np.sqrt(np.average((X - self.mean) ** 2, axis=0, weights=w))
        Z = (X - self.mean) / self.scale
        self.unit = np.ones(1) if has_hessian(self.loss) else deviations(y, w)
        y = y / self.unit
        self.baseline = np.atleast_1d(self.loss.baseline(y, w))
        F = np.tile(self.baseline, (len(X), 1))
        if hasattr(self.loss, "find_dispersion"):
            self.loss.find_dispersion(y, F, w)
        self.rounds, self.kinds = [], []
        hashes = hashes_of(X, y / deviations(y, w) if hasattr(self.loss, "find_dispersion") else y)
        order = self.loss.order if self.loss.leaf == "quantile" else 0.5
        first = 0.05 * max(0.4, 2 * np.sqrt(order * (1 - order)))
        rate, grows, of_rounds = self.learning_rate or first, self.learning_rate is None, []
        for iteration in range(self.max_iter):
            if hasattr(self.loss, "prepare"):
                self.loss.prepare(y, F, w)
            if hasattr(self.loss, "find_centre"):
                self.loss.find_centre(y, F, w)
            if grows and of_rounds and iteration in (100, 150, 200):
                (before, _), (decrease, curvature) = np.sum(np.reshape(of_rounds[-100:], (2, 50, 2, -1)), axis=(1, 3))
                few, least = (0.8, 0.45) if iteration == 100 else (0.5, 0.25)
                holds = max(few * min(1.0, 500 / len(X)), least) if has_hessian(self.loss) else 0.2
                is_late = iteration > 100 and rate == first
                doubles = decrease > (0.05 if is_late else holds) * curvature
                if F.shape[1] > 1 and decrease > 0.1 * curvature:
                    doubles = doubles or decrease > (0.5 / F.shape[1] if rate == first else 0.125) * before
                grows = not doubles if is_late else doubles or (iteration == 100 and has_hessian(self.loss) and F.shape[1] == 1)
                rate = 2 * rate if doubles else rate
            uniform = None
            if self.subsample < 1:
                uniform = draws(X, y, self.seed, iteration, hashes)
            in_bag = np.ones(len(X), bool) if uniform is None else uniform < self.subsample
            target, weight = working_response(self.loss, y, F, w, in_bag)
            halves = isinstance(self.loss, CLASS_LOSSES) and self.colsample == 1.0 and X.shape[1] >= 12
            columns = columns_of(X.shape[1], 0.5 if halves and iteration % 2 else self.colsample, self.seed, iteration)
            grown_trees, terms, gains = [], [], []
            for kind, own, tree in self._contenders(Z, columns, target, weight, w):
                contender = self._finished(tree, np.ascontiguousarray(Z[:, own]), weight, y, F, w)
                its_step = contender.bounded(Z[:, own])
                terms.append(self._left_out_terms(its_step, y, F, np.where(in_bag, 0.0, w)))
                falls = np.sum(self.loss.value(y, F) - self.loss.value(y, F + rate * its_step), axis=1)
                gains.append([np.average(falls, weights=w * rows) if np.any(w * rows) else 0.0 for rows in (~in_bag, in_bag)])
                grown_trees.append((kind, own, contender, its_step))
            kind, columns_kept, grown, step = grown_trees[best_of(np.array(gains))]
            of_rounds += [np.sum(terms, axis=0)] if terms[0] is not None else []
            descent, curvature = np.sum(of_rounds, axis=0) if of_rounds else np.zeros((2, F.shape[1]))
            share = np.where(curvature > 0, np.clip(descent / np.where(curvature > 0, curvature, 1.0), 0.0, 1.0), 1.0)
            F = F + rate * share * step
            shift = self.loss.find_shift(y, F, w) if hasattr(self.loss, "find_shift") else 0.0
            self.kinds.append(kind)
            self.rounds.append((columns_kept, grown, rate * share, shift))
            F = F + shift
        return self

    def _contenders(self, Z, columns, target, weight, count):
        """Columns and a tree of each kind: of the relevant features, if these are all of many the sum of two, linear."""
        part = np.ascontiguousarray(Z[:, columns])
        n_wanted = 7 + target.shape[1]
        places = relevant_features(part, target, weight, count, self.tree["alpha"])
        few, relevant = part[:, places], np.take(columns, places)
        yield 0, relevant, self._grown(few, target, weight, count)
        if len(columns) > n_wanted and len(places) == len(columns) and np.sum(weight == 0) >= 20:
            yield 2, columns, self._grown_for_residuals(part, target, weight, count)
        if self.linear_competes:
            yield 4, relevant, self._grown(few, target, weight, count, max_depth=0)

    def _grown_for_residuals(self, part, target, weight, count):
        """A linear model of all features and a tree of few for what it leaves."""
        model = self._grown(part, target, weight, count, max_depth=0)
        rest = target - model.predict(part).reshape(target.shape)
        places = relevant_features(part, rest, weight, count, self.tree["alpha"])
        if len(places) < part.shape[1]:
            model = LiteralSum(model, self._grown(part[:, places], rest, weight, count), places)
            model.find_means(part, target, weight)
        return model

    def _finished(self, tree, Z, weight, y, F, w):
        """With constants, lengths and bounds as boosting has them."""
        grown = LiteralTree(tree, Z, weight, self.extrapolation, LARGEST_STEP if has_hessian(self.loss) else np.inf)
        if self.loss.leaf != "newton":
            grown.revise(self.loss, y - F, w, FARTHEST * residual_scale(y, F, w))
        penalty = self.loss.penalty_factor * self.l2_leaf_reg
        grown.shrink(penalty)
        if has_hessian(self.loss) and F.shape[1] > 1:
            grown.lengthen(w[:, np.newaxis] * self.loss.hessian(y, F), penalty)
        return grown

    def _left_out_terms(self, step, y, F, w):
        """Of samples of positive weight, the decrease along the step and the curvature, of each output."""
        descent = -self.loss.gradient(y, F) * step
        if self.loss.leaf == "newton":
            return [w @ descent, w @ (self.loss.hessian(y, F) * step**2)]
        if self.loss.leaf == "quantile" and self.loss.order != 0.5:
            return None
        gap = self.loss.value(y, F + step) - self.loss.value(y, F) + descent
        return [[w @ terms.sum(axis=1)] * F.shape[1] for terms in (descent, 2.0 * gap)]

    def _grown(self, Z, target, weight, count, **options):
        Z, options = np.ascontiguousarray(Z), {**self.tree, **options}
        if has_hessian(self.loss):
            return LiteralMember(options, Z, target, weight, count)
        tree = MemberTree(**options, standardize=False)
        tree._fixed = {**tree._fixed, "scales_scores": False}  # done
        with patch("fctree._validation.rescale_small_weights", np.asarray):  # weights of a round are not scaled
            return tree.fit(Z, target, weight).tree_

    def raw_predict(self, X):
        Z = (X - self.mean) / self.scale
        F = np.tile(self.baseline, (len(X), 1))
        for columns, grown, rate, shift in self.rounds:
            F = F + rate * grown.bounded(Z[:, columns]) + shift
        return F * self.unit
