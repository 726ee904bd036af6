"""Boosting with symmetric trees word by word: the slow twin of the boosting estimators.

Every candidate of every level is tried on every row; nothing is binned, subtracted or kept.
The twin follows a fitted model: at each level it scores all candidates itself, demands that
the model's choice is the best up to rounding, and goes on with the model's choice, so that
two candidates that only rounding tells apart end no comparison.
"""

from dataclasses import dataclass

import numpy as np
from loss_cases import given_parameter
from reference.literal_losses import lower_upper_quantile, make_loss
from reference.literal_philox import (
    CANDIDATE_NOISE,
    FEATURE_SAMPLE,
    ROW_SAMPLE,
    SEARCHED_ROWS,
    LiteralRandom,
)

# Gradients are rounded to 2^-50 / n of their sum for the choice of splits, sums of some
# hundred of them to some 1e-13; the logarithms of noise differ in their last bit.
SCORE_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Candidate:
    feature: int
    code: int
    missing_right: bool


def goes_right(x, threshold, missing_right):
    return np.where(np.isnan(x), missing_right, x > threshold)


class LiteralBoosting:
    """Follows `model`, a fitted estimator, over the rows it grew on.

    y is (n, K), or the class numbers (n, 1); `initial` are scores (n, K) to start from.
    """

    def __init__(self, model, X, y, weight=None, initial=None):
        self.model, self.parameters = model, model.get_params()
        self.X, self.y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        n_classes = len(model.classes_) if hasattr(model, "classes_") else None
        loss = self.parameters["loss"]
        name = loss[0] if isinstance(loss, tuple) else loss
        self.loss = make_loss(name, given_parameter(self.parameters), n_classes)
        self.fewest = self.parameters["min_samples_leaf"]
        order = given_parameter(self.parameters) if name == "quantile" else None
        self.least_weight = 5.0 if order == 0.5 else {"absolute_error": 5.0, "huber": 7.0}.get(name, 0.0)
        if order not in (None, 0.5):  # five samples beyond it
            self.fewest = max(self.fewest, round(5 / min(order, 1 - order)))
        self.weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
        # Several outputs count in units of their deviations.
        self.degree = {"squared_error": 2, "huber": 2, "absolute_error": 1, "quantile": 1}.get(name)
        self.unit = np.ones(model.n_outputs_)
        if model.n_outputs_ > 1 and self.degree is not None:
            mean = np.average(self.y, axis=0, weights=self.weight)
            self.unit = np.sqrt(np.average((self.y - mean) ** 2, axis=0, weights=self.weight))
        self.baseline = (np.zeros(model.n_outputs_) if initial is not None
                         else self.loss.baseline(self.y, self.weight))
        start = self.baseline if initial is None else initial
        self.scores = np.broadcast_to(start, (len(X), model.n_outputs_)) / self.unit
        self.y = self.y / (1.0 if n_classes else self.unit)
        if hasattr(self.loss, "find_dispersion"):
            self.loss.find_dispersion(self.y, self.scores, self.weight)
        self.thresholds = model.bin_thresholds_
        directions = self.parameters["monotonic_cst"]
        self.directions = np.zeros(X.shape[1]) if directions is None else np.asarray(directions)
        self.losses = []
        self.n_exact = 0  # splits where the twin's own choice was the model's

    # Scores -------------------------------------------------------------------------------

    def leaf_terms(self, rows):
        """S^2 / (W + l2) and W S^2 / (W + l2)^2 of one leaf, the outputs summed, and S / (W + l2)."""
        weight = self.weight[rows].sum()
        total = self.weight[rows] @ self.gradient[rows]
        whole = weight + self.parameters["l2_leaf_reg"] / self.one_of
        if whole == 0:
            return 0.0, 0.0, np.zeros_like(total)
        return (total @ total) / whole, weight * (total @ total) / whole**2, total / whole

    def score(self, candidate, leaves):
        """The score of a level's candidate, or None where it is none; and its gain's base."""
        threshold = self.thresholds[candidate.feature][candidate.code]
        right = goes_right(self.X[:, candidate.feature], threshold, candidate.missing_right)
        sign = self.directions[candidate.feature]
        smallest, base, norm = np.inf, 0.0, 0.0
        for rows in leaves:
            sides = rows[~right[rows]], rows[right[rows]]
            if len(rows) == 0:
                continue
            if all(map(len, sides)):
                smallest = min(smallest, *map(len, sides))
            terms = [self.leaf_terms(side) for side in sides]
            if sign and threshold < np.inf and sign * (terms[1][2] - terms[0][2])[0] > 0:  # mean gradients
                terms = [self.leaf_terms(rows)]
            base += sum(of_side[0] for of_side in terms)
            norm += sum(of_side[1] for of_side in terms)
        cuts = smallest < np.inf
        if smallest < self.fewest:
            return None, base
        if not cuts and self.parameters["score_noise"] != "gumbel":
            return None, base
        if self.parameters["score_function"] == "cosine":
            return (base / np.sqrt(norm) if norm > 0 else 0.0), base
        # Normal noise is on the scale of gradients, as the root of the l2 score is.
        gumbel = self.parameters["score_noise"] == "gumbel"
        return (base if gumbel else np.sqrt(base)), base

    def noise_unit(self, iteration):
        strength, n = self.parameters["random_strength"], self.weight.sum()
        strength = np.sqrt(max(0.0, strength**2 - (self.one_of - 1)) / self.one_of)
        if self.parameters["score_noise"] == "gumbel":
            return strength * n
        q = n * np.exp(-iteration * self.parameters["learning_rate"])
        squares = self.weight @ (self.gradient**2).sum(axis=1)
        return strength * np.sqrt(squares / n) * q / (1 + q)

    def noisy_scores(self, leaves, above, iteration):
        """{candidate: (score with noise, gain's base)} of all that may be taken."""
        random = LiteralRandom(self.model._random_seed, CANDIDATE_NOISE)
        gumbel = self.parameters["score_noise"] == "gumbel"
        draw = random.gumbel if gumbel else random.normal
        unit, used = self.noise_unit(iteration), self.features_of(iteration)
        found, number = {}, -1
        for feature, thresholds in enumerate(self.thresholds):
            missing = np.isnan(self.X[:, feature]).any()
            for code in range(len(thresholds)):
                number += 1
                if feature not in used:
                    continue
                if gumbel and any((c.feature, c.code) == (feature, code) for c in above):
                    continue
                noise = unit * draw(iteration, len(above), number) if unit > 0 else 0.0
                for side in ((False, True) if missing else (False,)):
                    candidate = Candidate(feature, code, side)
                    score, base = self.score(candidate, leaves)
                    if score is not None:
                        found[candidate] = (score + noise, base)
        return found

    # Samples of rows and features -----------------------------------------------------------

    def rows_of(self, iteration):
        n, share = len(self.X), self.parameters["subsample"]
        if share == 1.0:
            return np.arange(n)
        random = LiteralRandom(self.model._random_seed, ROW_SAMPLE)
        words = [w for i in range(0, n, 4) for w in random.words(iteration, i // 4, 0)]
        return np.flatnonzero(np.array(words[:n]) < share * 2**32)

    def count_one_of(self):
        """Splits are searched on one of so many rows."""
        most = 1 + 7 * min(self.parameters["random_strength"], 1.0) ** 2
        n, wanted = len(self.X), 16384 * 2 ** max(self.parameters["max_depth"] - 6, 0)
        whole = self.parameters["subsample"] == 1.0 and self.fewest == 1
        if n < 2 * wanted or not whole or self.parameters["score_noise"] == "gumbel":
            return 1
        slopes = np.abs(self.weight[:, None] * self.gradient).ravel()
        powers = np.where(slopes > 0, 2.0 ** (np.frexp(slopes)[1] - 1), 0.0)
        tells = (1.5 * powers).sum() ** 2 / (slopes.size * (7 / 3 * powers**2).sum())
        return int(np.clip(tells * n / wanted, 1, most))

    def searched_rows(self, iteration):
        """One of each group of neighbouring blocks of 64 rows."""
        if self.one_of == 1:
            return self.rows_of(iteration)
        random = LiteralRandom(self.model._random_seed, SEARCHED_ROWS)
        block = np.arange(len(self.X)) // 64
        drawn = np.array([random.words(iteration, group, 0)[0] for group in range(block[-1] // self.one_of + 1)])
        return np.flatnonzero(block % self.one_of == drawn[block // self.one_of] % self.one_of)

    def features_of(self, iteration):
        d, share = self.X.shape[1], self.parameters["colsample"]
        if share == 1.0:
            return set(range(d))
        random = LiteralRandom(self.model._random_seed, FEATURE_SAMPLE)
        draws = sorted((random.uniform(iteration, f, 0), f) for f in range(d))
        n_used = max(1, int(np.floor(share * d + 0.5)))
        return {f for _, f in draws[:n_used]}

    # Trees ----------------------------------------------------------------------------------

    def follow_splits(self, tree, iteration):
        """The leaves that the model's tree makes of the sampled rows, its choices checked."""
        self.one_of = self.count_one_of()
        trees, leaves, above = self.model.trees_, [self.searched_rows(iteration)], []
        of_leaves = [self.rows_of(iteration)]
        gumbel = self.parameters["score_noise"] == "gumbel"
        scale = max(1e-300, self.weight @ (self.gradient**2).sum(axis=1))
        for level in range(trees.depth):
            scores = self.noisy_scores(leaves, above, iteration)
            if not self.gradient.any() and not gumbel:
                scores = {}
            feature = trees.split_feature[tree, level]
            if feature < 0:
                assert not scores, f"tree {tree} stops at level {level} with candidates left"
                break
            assert scores, f"tree {tree} splits at level {level}, where nothing can be split"
            split = self.read_split(tree, level)
            known = split if split in scores else Candidate(split.feature, split.code, False)
            assert known in scores, f"tree {tree}, level {level}: {split} is no candidate"
            best = max(scores, key=lambda c: scores[c][0])
            size = scale if gumbel else np.sqrt(scale)
            slack = SCORE_TOLERANCE * max(size, abs(scores[best][0]))
            assert scores[known][0] >= scores[best][0] - slack, (tree, level, best, split)
            self.n_exact += known == best
            base = sum(self.leaf_terms(rows)[0] for rows in leaves)
            gain = self.one_of * max(scores[known][1] - self.level_base(base, above), 0.0)
            assert abs(trees.split_gain[tree, level] - gain) <= 1e-9 * scale
            self.base_of_level = scores[known][1]
            above.append(split)
            right = goes_right(self.X[:, feature], trees.split_threshold[tree, level],
                               split.missing_right)
            leaves, of_leaves = (
                [side for rows in some for side in (rows[~right[rows]], rows[right[rows]])] for some in (leaves, of_leaves)
            )
        return of_leaves, above

    def level_base(self, plain, above):
        """Reference of the gain: the root's score, then the last level's choice."""
        return plain if not above else self.base_of_level

    def read_split(self, tree, level):
        trees = self.model.trees_
        feature = int(trees.split_feature[tree, level])
        threshold = trees.split_threshold[tree, level]
        (code,) = np.flatnonzero(self.thresholds[feature] == threshold)
        missing_right = bool(trees.missing_right[tree, level])
        known = ~np.isnan(self.X[:, feature])
        if known[self.searched_rows(tree)].all():
            majority = 2 * np.count_nonzero(self.X[known, feature] > threshold) > np.count_nonzero(known)
            assert missing_right == majority, f"tree {tree}, level {level}: not the majority"
        return Candidate(feature, int(code), missing_right)

    def enough_rows(self, leaves, i):
        """Those of a leaf that is not empty, with its siblings' and so on until they weigh enough."""
        size, rows = 1, leaves[i]
        while len(rows) and size < len(leaves) and self.weight[rows].sum() < self.least_weight:
            size *= 2
            first = i // size * size
            rows = np.concatenate(leaves[first : first + size])
        return rows

    def leaf_value(self, rows):
        """(K,) before the learning rate."""
        if len(rows) == 0:
            return np.zeros(self.scores.shape[1])
        weight, residual = self.weight[rows], self.y[rows] - self.scores[rows]
        if self.loss.leaf == "newton":
            g, h = weight @ self.gradient[rows], weight @ self.hessian[rows]
            penalty = self.loss.penalty_factor * self.parameters["l2_leaf_reg"]
            return self.loss.limited(-g / (h + penalty), g, h)
        order = self.loss.order if self.loss.leaf == "quantile" else 0.5
        middle = np.array([lower_upper_quantile(r, weight, order) for r in residual.T])
        if self.loss.leaf == "quantile":
            return middle
        rest = np.clip(residual - middle, -self.loss.delta, self.loss.delta)
        return middle + weight @ rest / weight.sum()

    def evaluate(self):
        if hasattr(self.loss, "prepare"):
            self.loss.prepare(self.y, self.scores, self.weight)
        if hasattr(self.loss, "find_centre"):
            self.loss.find_centre(self.y, self.scores, self.weight)
        value = self.loss.value(self.y, self.scores)
        value = (value * (self.unit**self.degree if self.degree else 1.0)).sum(axis=1)
        self.losses.append(self.weight @ value / self.weight.sum())
        self.gradient = self.loss.gradient(self.y, self.scores)
        self.hessian = self.loss.hessian(self.y, self.scores)

    def follow(self, n_trees=None):
        """Goes through the trees; yields (tree, splits, leaves, the twin's leaf values)."""
        trees = self.model.trees_
        rate = self.parameters["learning_rate"]
        self.evaluate()
        for tree in range(trees.n_trees if n_trees is None else n_trees):
            leaves, splits = self.follow_splits(tree, tree)
            values = np.array([rate * self.unit * self.leaf_value(self.enough_rows(leaves, i)) for i in range(len(leaves))])
            leaf = np.zeros(len(self.X), dtype=int)
            for split in splits:
                threshold = self.thresholds[split.feature][split.code]
                leaf = 2 * leaf + goes_right(self.X[:, split.feature], threshold,
                                             split.missing_right)
            if hasattr(self.loss, "find_shift"):
                values += self.loss.find_shift(self.y, self.scores + values[leaf], self.weight)
            yield tree, splits, leaves, values
            step = self.model_values(tree, splits) if self.directions.any() else values
            self.scores = self.scores + step[leaf] / self.unit
            self.evaluate()

    def model_values(self, tree, splits):
        """The model's values of the leaves that the splits make, (2**levels, K)."""
        spread = 2 ** (self.model.trees_.depth - len(splits))
        return self.model.trees_.leaf_values[tree, ::spread]
